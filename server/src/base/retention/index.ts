export { daysBefore, minRunDays, type Retention, runDaysOf } from "./retention.ts";
