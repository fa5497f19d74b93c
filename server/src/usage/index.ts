export { insertEntries } from "./insert-entries.ts";
export { rollUp } from "./roll-up.ts";
export { renumberEntries } from "./rollup-store.ts";
