import { BriefMap } from "../../base/brief-map.ts";
import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Database } from "../../base/database/index.ts";
import { createFollowers, type Followers } from "./followers.ts";
import { createHearers, type Hearers } from "./hearers.ts";
import type { LiveRun } from "./live-run.ts";
import { type SharedReads, shareReads } from "./shared-reads.ts";

/** Runs that this process executes, by id. */
export type LiveRuns = BriefMap<LiveRun>;

/** Creates the table of runs that this process executes. */
export function createLiveRuns(): LiveRuns {
  return new BriefMap();
}

/** Everybody in this process who reads a run's journal while it grows. */
export interface Subscribers {
  /** Those who wait for runs that other processes execute. */
  readonly followers: Followers;
  /** Those who read what a model says as it says it. */
  readonly hearers: Hearers;
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
    followers: createFollowers(database, onFollow),
    hearers: createHearers(outputs),
    sharedReads: shareReads(database),
  };
}
