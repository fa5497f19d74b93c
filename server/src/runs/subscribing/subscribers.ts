import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Database } from "../../base/database/index.ts";
import { ShortLivedMap } from "../../base/short-lived-map.ts";
import type { LiveRun } from "./live-run.ts";
import { createOutputBuffers, type OutputBuffers } from "./output-buffers.ts";
import { createRunPollers, type RunPollers } from "./run-pollers.ts";
import { createSharedReads, type SharedReads } from "./shared-reads.ts";

/** Runs that this process executes, by id. */
export type LiveRuns = ShortLivedMap<LiveRun>;

/** Creates the table of runs that this process executes. */
export function createLiveRuns(): LiveRuns {
  return new ShortLivedMap();
}

/** Everybody in this process who reads a run's journal while it grows. */
export interface Subscribers {
  /** Those who wait for runs that other processes execute. */
  readonly pollers: RunPollers;
  /** Those who read what a model says as it says it. */
  readonly outputBuffers: OutputBuffers;
  readonly sharedReads: SharedReads;
}

/**
 * @param onFollow called when the first subscriber of a run that executes elsewhere arrives.
 * @param outputs what waits for readers of streams, by workspace.
 */
export function createSubscribers(
  database: Database,
  { onFollow, outputs }: { onFollow: (runId: string) => void; outputs: ByteBudget },
): Subscribers {
  return {
    pollers: createRunPollers(database, onFollow),
    outputBuffers: createOutputBuffers(outputs),
    sharedReads: createSharedReads(database),
  };
}
