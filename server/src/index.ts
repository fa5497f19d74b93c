export { readConfig } from "./config.ts";
export { type Tool, type ToolContext, ToolFailure } from "./engine/index.ts";
export { type Beckon, type StartOptions, start } from "./main.ts";
