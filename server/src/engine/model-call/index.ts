export { memoryIsUsedUp, noMemory } from "./call-meter.ts";
export { callModel, UnansweredCall } from "./call-model.ts";
