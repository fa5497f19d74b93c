export { createEvaluator, type Evaluator, type MappingServices } from "./evaluator.ts";
export { type Mapped, MappingError, type MappingVariables } from "./mapping.ts";
export { chosenValues, valueLines } from "./message.ts";
