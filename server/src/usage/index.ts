export { insertEntries } from "./insert-entries.ts";
export { getUsage } from "./report.ts";
export { reportUnknownTimeZones } from "./report-unknown-time-zones.ts";
export { rollUp } from "./roll-up.ts";
export { renumberEntries } from "./rollup-store.ts";
export { sumEntries, tokenColumns } from "./sum-entries.ts";
