export { insertEntries } from "./insert-entries.ts";
export { getUsage, type RequestedUsage } from "./report.ts";
export { rollUp } from "./roll-up.ts";
export { renumberEntries } from "./rollup-store.ts";
