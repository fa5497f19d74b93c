import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Database } from "../../base/database/index.ts";
import { ShortLivedMap } from "../../base/short-lived-map.ts";
import type { LiveRun } from "./live-run.ts";
import { createOutputBuffers, type OutputBuffers } from "./output-buffers.ts";
import { createRunPoller, type RunPoller } from "./run-poller.ts";
import { createSharedReads, type SharedReads } from "./shared-reads.ts";

/** The runs that this process executes, by run id. */
export type LiveRuns = ShortLivedMap<LiveRun>;

/** Creates the table of runs that this process executes. */
export function createLiveRuns(): LiveRuns {
  return new ShortLivedMap();
}

/** The subscribers in this process that read runs. */
export interface Subscribers {
  /** Wakes subscribers to runs that another process executes, or that no process executes yet. */
  readonly poller: RunPoller;
  /** Buffers of the streams that receive model output. */
  readonly outputBuffers: OutputBuffers;
  readonly sharedReads: SharedReads;
}

/**
 * Creates the tables in which this process keeps its subscribers in memory. They are empty at
 * first.
 * @param onFirstSubscriber called when a run that another process executes gets its first
 *   subscriber in this process.
 * @param outputs the memory budget for model output that is buffered for streams. Each workspace
 *   has a share.
 */
export function createSubscribers(
  database: Database,
  {
    onFirstSubscriber,
    outputs,
  }: { onFirstSubscriber: (runId: string) => void; outputs: ByteBudget },
): Subscribers {
  return {
    poller: createRunPoller(database, onFirstSubscriber),
    outputBuffers: createOutputBuffers(outputs),
    sharedReads: createSharedReads(database),
  };
}
