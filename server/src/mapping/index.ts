export { createEvaluator, type Evaluator } from "./evaluator.ts";
export { type Mapped, MappingError, type MappingVariables } from "./mapping.ts";
export {
  chosenValues,
  oneLine,
  type ReceivedValues,
  valueLines,
  withoutTemplate,
} from "./message.ts";
