export { httpTools, type ToolServices } from "./http-tool.ts";
