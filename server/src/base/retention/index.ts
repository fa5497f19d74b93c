export { daysBefore, minRunDays, type Retention, restorableDays, runDaysOf } from "./retention.ts";
