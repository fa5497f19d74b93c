import { untilWoken } from "../../base/abort.ts";
import { pauseIfLost } from "../../base/database/index.ts";
import type { Outcome } from "../../engine/index.ts";
import { deletedRun } from "../access.ts";
import { readOutcome } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "./live-run.ts";
import { type SubscribePorts, subscribeToRun } from "./subscribe.ts";

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
  const live = ports.live.get(run.runId);
  if (live !== undefined) await untilEndedHere(live, signal);
  if (live?.outcome !== undefined) return live.outcome;
  for await (const event of subscribeToRun(ports, run, { after: live?.base ?? 0, signal }))
    void event;
  for (;;) {
    try {
      const outcome = await readOutcome(ports.database, run);
      if (outcome === undefined && !signal.aborted && !ports.subscribers.pollers.closed)
        throw deletedRun();
      return outcome;
    } catch (thrown) {
      await pauseIfLost(thrown, signal);
      if (signal.aborted || ports.subscribers.pollers.closed) return undefined;
    }
  }
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
