export { grantedTools } from "./granted-tools.ts";
export type { ToolServices } from "./http/index.ts";
