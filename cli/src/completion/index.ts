export { describe } from "./describe.ts";
export { completionScript, type Shell, shells } from "./scripts.ts";
