export { createKnownCallers } from "./known-callers.ts";
export { createQueueLimits } from "./queue-limits.ts";
export { labelHeaders, readLabels } from "./read-labels.ts";
export {
  maxStoredRejections,
  type Started,
  type StartOutcome,
  type StartRequest,
  startRun,
  TriggerReconfigured,
  tryStart,
  workspaceOfCaller,
} from "./start.ts";
export { startErrors } from "./start-errors.ts";
export type { StartPorts } from "./start-ports.ts";
export {
  type Caller,
  type CopiedFile,
  callerId,
  type ReceivedStart,
  type RunCallback,
  type RunDetails,
  type RunDraft,
  type RunLabels,
  runDetails,
  type SenderEvent,
  type StartRow,
} from "./start-row.ts";
export { startStatements } from "./start-statement.ts";
export { createStarts } from "./starts.ts";
export { createUnconfirmedStarts, type UnconfirmedStarts } from "./unconfirmed-starts.ts";
