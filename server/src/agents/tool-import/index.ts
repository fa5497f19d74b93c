export { importHttpTool } from "./import-http-tool.ts";
