export { createLimitedCallers } from "./limited-callers.ts";
export { createQueueLimits } from "./queue-limits.ts";
export {
  mayStart,
  type Started,
  type StartPorts,
  type StartRequest,
  startRun,
} from "./start.ts";
export { startErrors } from "./start-errors.ts";
export {
  type Caller,
  callerId,
  type RunCallback,
  type RunDetails,
  type RunDraft,
  type RunLabels,
  type StartRow,
} from "./start-row.ts";
export { startStatements } from "./start-statement.ts";
export { createStarts } from "./starts.ts";
export { createUnconfirmedStarts, type UnconfirmedStarts } from "./unconfirmed-starts.ts";
