export { type AppendRow, endOf } from "./append-row.ts";
export { appendForDead, appendStatements } from "./append-statement.ts";
export { type Appends, createAppends } from "./appends.ts";
export { cancelAllStored, cancelStatement, cancelStored } from "./cancel-statement.ts";
export { configOf } from "./config-statement.ts";
export { readWasReported, readWasWaiting } from "./digest-store.ts";
export { addEvents, endUnexecuted, type UnexecutedEnd } from "./end-runs.ts";
export { type InitialStatus, insertRuns } from "./insert-runs.ts";
export { finalEvent, nothingUsed, toEntry, toStored } from "./journal-entry.ts";
export {
  readEventSummaries,
  readEvents,
  readInput,
  readJournal,
  readJournalBytes,
  readSomeEvents,
} from "./journal-store.ts";
export { readPricedDigest } from "./read-priced-digest.ts";
export { readLastSeqs, readOutcome, readStoredStatus, spentOf } from "./result-store.ts";
export { type RunEnd, toEnd } from "./run-end.ts";
