export { diagnose } from "./diagnose.ts";
export type { Area, Finding } from "./finding.ts";
