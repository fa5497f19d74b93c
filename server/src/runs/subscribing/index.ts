export { createHearer, type Hearer } from "./hearer.ts";
export { type LastAttempt, LiveRun } from "./live-run.ts";
export { readStatus } from "./read-status.ts";
export { readCursor, streamRun, streamStarted } from "./stream.ts";
export {
  createLiveRuns,
  createSubscribers,
  type LiveRuns,
  type Subscribers,
} from "./subscribers.ts";
export { tellOutput } from "./tell-output.ts";
export { waitForRun } from "./wait.ts";
export { type WatchPorts, watchRun } from "./watch.ts";
