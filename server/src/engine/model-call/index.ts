export { memoryIsUsedUp, noMemory } from "./call-meter.ts";
export { UnansweredCall } from "./call-model.ts";
export { callModel } from "./traced-call.ts";
