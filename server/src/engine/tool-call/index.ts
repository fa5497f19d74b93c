export { finishCalls } from "./finish-calls.ts";
export { parseArguments } from "./parse-arguments.ts";
export { resultsOfRelease } from "./plan-calls.ts";
