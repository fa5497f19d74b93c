export { finishCalls } from "./finish-calls.ts";
export { parseArguments } from "./parse-arguments.ts";
export { unknownResults } from "./plan-calls.ts";
