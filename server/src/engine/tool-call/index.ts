export { parseArguments } from "./parse-arguments.ts";
export { settleCalls } from "./settle-calls.ts";
