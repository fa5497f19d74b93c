import { elapsed, sleep } from "../../base/clock.ts";
import type { ProcessMessages } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { LiveRuns, Subscribers } from "../subscribing/index.ts";

/** The services that draining needs. */
export interface DrainPorts {
  readonly log: Log;
  readonly live: LiveRuns;
  readonly starts: { readonly pending: number };
  readonly subscribers: Pick<Subscribers, "pollers">;
  readonly processMessages: Pick<ProcessMessages, "alone">;
}

/** How long releasing runs may take after the grace period. The supervisor waits for it. */
const maxReleaseMs = 2_000;

/** Between checks whether runs are left. */
const checkIntervalMs = 20;

/**
 * Waits up to `graceMs` for runs of this process to end, and for callers that wait for runs of
 * other processes. Then releases the remaining runs to the queue, which does not count as an
 * attempt; runs that cannot be released in time are taken over as after a crash. Before the call,
 * `Capacity.drain` must have been called, so that no more runs are accepted.
 */
export async function drainRuns(ports: DrainPorts, graceMs: number): Promise<void> {
  const { live, starts, processMessages } = ports;
  const { pollers } = ports.subscribers;
  // Ends streams of runs that other processes execute; clients resume them: see `subscribeToRun`.
  pollers.wakeAll();
  // If this is the only process, no other executes the runs that callers wait for.
  await until(
    () => live.size === 0 && starts.pending === 0 && (processMessages.alone || pollers.count === 0),
    graceMs,
  );
  for (const run of live.values()) run.stop("drain");
  await until(() => live.size === 0 && starts.pending === 0, maxReleaseMs);
  if (live.size > 0)
    ports.log.warn({ runs: live.size }, "runs could not be released before the process exits");
}

async function until(isDone: () => boolean, maxWaitMs: number): Promise<void> {
  for (const deadline = elapsed() + maxWaitMs; !isDone() && elapsed() < deadline; )
    await sleep(checkIntervalMs);
}
