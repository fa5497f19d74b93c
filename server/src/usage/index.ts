export { insertEntries } from "./insert-entries.ts";
export { replaceUnknownTimeZones, withKnownTimeZones } from "./replace-unknown-time-zones.ts";
export { getUsage } from "./report.ts";
export { rollUp } from "./roll-up.ts";
export { renumberEntries } from "./rollup-store.ts";
export { sumEntries, tokenColumns } from "./sum-entries.ts";
