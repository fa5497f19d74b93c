export { canReadRuns, hiddenMistake } from "./access.ts";
export { announceQueued, wakeClaims } from "./announce-queued.ts";
export {
  cancelledRuns,
  claimRuns,
  endRestored,
  expireQueued,
  releaseHeld,
  severalWorkspacesHaveAgents,
  takeOverRuns,
} from "./claiming/index.ts";
export { createRunServices, type RunServices } from "./create-run-services.ts";
export { drainRuns, type Memory } from "./executing/index.ts";
export { readRunFigures } from "./figures-store.ts";
export {
  type Artifact,
  cancelRun,
  cancelRuns,
  deleteRun,
  deleteRuns,
  getArtifact,
  getRun,
  getRunEvent,
  getRunStats,
  listRunEvents,
  listRuns,
  maxPartBytes,
  retryRun,
  startDraftRun,
  startManaged,
  stopHere,
} from "./managing/index.ts";
export { createPricer } from "./pricer.ts";
export {
  type Caller,
  callerId,
  labelHeaders,
  maxStoredRejections,
  type ReceivedStart,
  type RunCallback,
  type RunDetails,
  type RunLabels,
  readLabels,
  runDetails,
  type Started,
  type StartOutcome,
  type StartRequest,
  startErrors,
  startRun,
  TriggerReconfigured,
  tryStart,
  workspaceOfCaller,
} from "./starting/index.ts";
export {
  createOutputBuffer,
  readCursor,
  readStatus,
  streamRun,
  streamStarted,
  waitForRun,
} from "./subscribing/index.ts";
