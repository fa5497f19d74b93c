export { memoryIsUsedUp, noMemory } from "./call-meter.ts";
export { CallAborted, callModel } from "./call-model.ts";
