export { createEvaluator, type Evaluator, type MappingServices } from "./evaluator.ts";
export { MappingError } from "./mapping.ts";
export { chosenValues, valueLines } from "./message.ts";
