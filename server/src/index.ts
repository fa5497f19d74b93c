export { readConfig } from "./config.ts";
export { type Beckon, type StartOptions, start } from "./main.ts";
