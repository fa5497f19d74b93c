export {
  cancelledRuns,
  claimRuns,
  executeLostClaims,
  expireQueued,
  takeOverRuns,
} from "./claiming/index.ts";
export { createRunServices, type RunServices } from "./create-run-services.ts";
export { drainRuns } from "./executing/index.ts";
export {
  cancelRun,
  cancelRuns,
  deleteRun,
  deleteRuns,
  getRun,
  listRunEvents,
  listRuns,
  retryRun,
  stopHere,
} from "./managing/index.ts";
export {
  type Caller,
  callerId,
  mayStart,
  type Started,
  type StartRequest,
  startErrors,
  startRun,
} from "./starting/index.ts";
export {
  createOutputBuffer,
  readCursor,
  readStatus,
  streamRun,
  streamStarted,
  waitForRun,
} from "./subscribing/index.ts";
