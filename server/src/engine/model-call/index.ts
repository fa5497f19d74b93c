export { memoryIsUsedUp, noMemory } from "./call-meter.ts";
export { CallCut, callModel } from "./call-model.ts";
