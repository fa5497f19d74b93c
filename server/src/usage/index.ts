export { getUsage, type RequestedUsage } from "./report.ts";
