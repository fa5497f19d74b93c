export { readConfig } from "./config.ts";
export { type Tool, type ToolContext, ToolFailure } from "./engine/index.ts";
export { type Beckon, start } from "./main.ts";
export type { StartOptions } from "./start-options.ts";
