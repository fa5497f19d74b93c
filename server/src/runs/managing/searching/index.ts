export { listRuns } from "./list.ts";
export { searchRuns } from "./search-store.ts";
export { getRunStats } from "./stats.ts";
