export { LiveRun } from "./live-run.ts";
export { createOutputBuffer, type OutputBuffer } from "./output-buffer.ts";
export { publishOutput } from "./publish-output.ts";
export { readStatus } from "./read-status.ts";
export { readCursor, readProgress, streamRun, streamStarted } from "./stream.ts";
export type { SubscribePorts } from "./subscribe.ts";
export {
  createLiveRuns,
  createSubscribers,
  type LiveRuns,
  type Subscribers,
} from "./subscribers.ts";
export { waitForRun } from "./wait.ts";
