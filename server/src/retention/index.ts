export { deletionHint, missingRun } from "./missing-run.ts";
export { readLastPass } from "./pass-store.ts";
export { requestsWithoutRun } from "./requests-store.ts";
export { defaultPruning, type PruningOptions, startPruning } from "./schedule.ts";
export { oldUsageEntries } from "./usage-store.ts";
