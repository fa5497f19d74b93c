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

/**
 * Maximum time for releasing runs after the grace period. It must be shorter than the margin after
 * which the supervisor kills the process (`drainMarginSeconds` in supervise.ts).
 */
const maxReleaseMs = 2_000;

/** Time between two checks whether runs are left. */
const checkIntervalMs = 20;

/**
 * Waits up to `graceMs` until the runs of this process have ended, and until no caller at this
 * process waits for a run of another process. Then releases the remaining runs to the queue, which
 * does not count as an attempt. Runs that cannot be released in time are taken over by other
 * processes, as after a crash. The caller must have called `Capacity.drain` before, so that no more
 * runs are accepted.
 */
export async function drainRuns(ports: DrainPorts, graceMs: number): Promise<void> {
  const { live, processMessages } = ports;
  const { pollers } = ports.subscribers;
  // While starts are being written, this process is not idle: each of them can create a run that
  // this process executes.
  const isIdle = () => live.size === 0 && ports.starts.pending === 0;
  // Wakes the streams of runs that other processes execute. The streams then end, since this
  // process is stopping, and their clients resume them at another process: see `subscribeToRun`.
  pollers.wakeAll();
  // If this is the only process, it does not wait for the callers in `pollers`: they wait for runs
  // of other processes, and none is left to execute these runs.
  await until(() => isIdle() && (processMessages.alone || pollers.count === 0), graceMs);
  await until(() => {
    // Stops runs in every check, not only in the first one: a start that was still being written
    // may have begun another run since.
    for (const run of live.values()) if (!run.signal.aborted) run.stop("drain");
    return isIdle();
  }, maxReleaseMs);
  if (live.size > 0)
    ports.log.write("runs could not be released before the process exits", { runs: live.size });
}

async function until(isDone: () => boolean, maxWaitMs: number): Promise<void> {
  for (const deadline = elapsed() + maxWaitMs; !isDone() && elapsed() < deadline; )
    await sleep(checkIntervalMs);
}
