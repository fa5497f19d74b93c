import { elapsed, sleep } from "../../base/clock.ts";
import type { ProcessMessages } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { LiveRuns, Subscribers } from "../subscribing/index.ts";

/** What a process that stops waits for. */
export interface DrainPorts {
  readonly log: Log;
  readonly live: LiveRuns;
  readonly starts: { readonly pending: number };
  readonly subscribers: Pick<Subscribers, "pollers">;
  readonly processMessages: Pick<ProcessMessages, "alone">;
}

/** Milliseconds that handing back may take, once the grace is over. The supervisor waits for that, and for the door to close. */
const releaseMs = 2_000;

/** Milliseconds between looks at what is left. */
const interval = 20;

/**
 * Lets executing runs end and callers have their answer within `graceMs`, those too who wait for what other processes execute. Then
 * hands the rest back to the queue, for another process or the next start, at no cost of an attempt. What cannot be handed back in time is
 * taken over as from a dead process. The caller has closed the room and takes no more starts.
 */
export async function drainRuns(ports: DrainPorts, graceMs: number): Promise<void> {
  const { live, starts, processMessages } = ports;
  const { pollers } = ports.subscribers;
  // Streams of what others execute go on at another process: see `subscribeToRun`.
  pollers.wakeAll();
  // Alone, a queued run has nobody to execute it: whoever waits for it waits in vain.
  await until(
    () => live.size === 0 && starts.pending === 0 && (processMessages.alone || pollers.count === 0),
    graceMs,
  );
  for (const run of live.values()) run.stop("drain");
  await until(() => live.size === 0 && starts.pending === 0, releaseMs);
  if (live.size > 0)
    ports.log.warn({ runs: live.size }, "runs could not be handed back before the process ends");
}

async function until(done: () => boolean, withinMs: number): Promise<void> {
  for (const deadline = elapsed() + withinMs; !done() && elapsed() < deadline; )
    await sleep(interval);
}
