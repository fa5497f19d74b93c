import { untilWoken } from "../../base/abort.ts";
import { pauseIfLost } from "../../base/database/index.ts";
import type { Outcome } from "../../engine/index.ts";
import { deletedRun } from "../access.ts";
import { readOutcome } from "../journal/index.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "./live-run.ts";
import { type SubscribePorts, subscribeToRun } from "./subscribe.ts";

/**
 * Watches the run until it is over. While the database is away it goes on waiting: the run is accepted, so that no failure may be told.
 * @returns how it ended, or undefined when `signal` aborted first, or this process stops.
 * @throws ApiError `conflict` when the run was deleted before its end was read.
 */
export async function waitForRun(
  ports: SubscribePorts,
  run: RunRef,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const live = ports.live.get(run.runId);
  if (live !== undefined) await overHere(live, signal);
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

/** Resolves when the run has ended here, when this process has it no more, or when `signal` aborts. */
function overHere(live: LiveRun, signal: AbortSignal): Promise<void> {
  return untilWoken(signal, (wake) => {
    let forget = () => {};
    const look = () => {
      if (live.outcome === undefined && !live.closed) forget = live.onChange(look);
      else wake();
    };
    look();
    return () => forget();
  });
}
