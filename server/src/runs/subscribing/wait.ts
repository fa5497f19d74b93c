import { untilWoken } from "../../base/abort.ts";
import { undefinedAfter } from "../../base/clock.ts";
import { pauseIfLost } from "../../base/database/index.ts";
import type { Outcome } from "../../engine/index.ts";
import { deletedRun } from "../access.ts";
import { readLastSeqs, readOutcome } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunSubscription } from "./run-poller.ts";
import type { SubscribePorts } from "./subscribe.ts";

/** Time of the last read, which may have begun before the caller's wait was over. */
const lastReadMs = 1_000;

/**
 * Waits until the run has ended. Keeps waiting while the database is unreachable: the run was
 * accepted, so the caller must not get an error for it.
 * @returns the outcome; undefined if `signal` aborts or this process stops before the run has
 *   ended.
 * @throws ApiError `conflict` if the run was deleted before its outcome was read.
 */
export async function waitForRun(
  ports: SubscribePorts,
  run: RunRef,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const { poller } = ports.subscribers;
  let subscription: RunSubscription | undefined;
  try {
    for (;;) {
      const live = ports.live.get(run.runId);
      if (live !== undefined) {
        subscription?.unsubscribe();
        subscription = undefined;
        await untilEndedHere(live, signal);
        if (live.outcome !== undefined) return live.outcome;
      }
      // Subscribes before the first query, so that no notification is missed and a stopping process
      // waits for this caller (see `drainRuns`). As a consequence, the other processes are notified
      // of the subscriber even if the run has already ended.
      subscription ??= poller.subscribe(run.runId);
      const reading = readStored(ports, run, signal);
      await untilSettled(reading, signal);
      const stored = await undefinedAfter(reading, lastReadMs);
      if (stored?.outcome !== undefined) return stored.outcome;
      if (signal.aborted || poller.closed) return undefined;
      if (stored !== undefined) await subscription.waitForMore(stored.lastSeq, signal);
    }
  } finally {
    subscription?.unsubscribe();
  }
}

/**
 * Reads how far the run is; `outcome` is undefined until the run has ended. If the database is
 * unreachable, returns undefined after a pause.
 * @throws ApiError `conflict` if the run was deleted; any other error of the database
 */
async function readStored({ database }: SubscribePorts, run: RunRef, signal: AbortSignal) {
  try {
    const [row] = await readLastSeqs(database, [run.runId]);
    const outcome = row?.finished ? await readOutcome(database, run) : undefined;
    if (row === undefined || (row.finished && outcome === undefined)) throw deletedRun();
    return { lastSeq: row.last_seq, outcome };
  } catch (thrown) {
    await pauseIfLost(thrown, signal);
    return undefined;
  }
}

/** Resolves when `work` has succeeded or failed, or when `signal` aborts. */
function untilSettled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return untilWoken(signal, (wake) => {
    work.then(wake, wake);
    return () => {};
  });
}

/**
 * Resolves when the run has ended or no longer executes in this process, or when `signal` aborts.
 */
function untilEndedHere(live: LiveRun, signal: AbortSignal): Promise<void> {
  return untilWoken(signal, (wake) => {
    const check = () => {
      if (live.outcome === undefined && !live.closed) live.onChange(check);
      else wake();
    };
    check();
    return () => live.removeListener(check);
  });
}
