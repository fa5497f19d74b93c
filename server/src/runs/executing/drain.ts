import { elapsed, sleep, undefinedAfter } from "../../base/clock.ts";
import { attemptTask, type Database } from "../../base/database/index.ts";
import type { Log } from "../../base/log.ts";
import type { OwnProcess } from "../../processes/index.ts";
import type { LiveRuns, Subscribers } from "../subscribing/index.ts";
import { areExecutedElsewhere } from "./drain-store.ts";

/** The services that draining needs. */
export interface DrainPorts {
  readonly database: Pick<Database, "engine">;
  readonly log: Log;
  readonly process: Pick<OwnProcess, "id">;
  readonly live: LiveRuns;
  /** Starts without a result, and rejected starts whose runs are being cancelled. */
  readonly unconfirmedStarts: { readonly size: number };
  readonly startsInProgress: { readonly count: number };
  /** Claims to which the database has not replied. */
  readonly unconfirmedClaims: { readonly size: number };
  /** Finds and executes the runs of these claims. */
  readonly executeLostClaims: () => Promise<void>;
  readonly subscribers: Pick<Subscribers, "poller">;
}

/**
 * Maximum time for releasing runs after the grace period. It must be shorter than the margin after
 * which the supervisor kills the process (`drainMarginSeconds` in supervise.ts).
 */
const maxReleaseMs = 2_000;

/** Time between two checks whether runs or callers are left. */
const checkIntervalMs = 20;

/**
 * Time between two queries whether other processes execute the runs that callers wait for, and
 * between two searches for the runs of lost claims.
 */
const queryIntervalMs = 500;

/**
 * Waits up to `graceMs` until the runs of this process have ended, and until no caller at this
 * process waits for a run that another process executes or can claim. Then releases the remaining
 * runs to the queue, which does not count as an attempt. Runs that cannot be released in time are
 * taken over by other processes, as after a crash. The caller must have called `Capacity.drain` and
 * stopped the worker before, so that no more runs are accepted or claimed.
 */
export async function drainRuns(ports: DrainPorts, graceMs: number): Promise<void> {
  const { live } = ports;
  const { poller } = ports.subscribers;
  const deadline = elapsed() + graceMs;
  const leftMs = () => deadline - elapsed();
  let areClaimsFound = ports.unconfirmedClaims.size === 0;
  // The worker, which usually searches before its next claim, has stopped. A run that is not found
  // is taken over as after a crash, although nothing of it was executed.
  const findLostClaims = async () => {
    while (!areClaimsFound && leftMs() > -maxReleaseMs) {
      await attemptTask(ports.log, "executing the runs of lost claims", async () => {
        await ports.executeLostClaims();
        areClaimsFound = true;
      });
      if (!areClaimsFound) await sleep(queryIntervalMs);
    }
  };
  // While starts are in progress, this process is not idle: each of them can create a run that this
  // process executes, or find a run that its caller then waits for. `unconfirmedStarts` also has
  // starts whose callers no longer wait. If such a caller got 503, the run is cancelled first.
  const isIdle = () =>
    areClaimsFound &&
    live.size === 0 &&
    ports.unconfirmedStarts.size === 0 &&
    ports.startsInProgress.count === 0;
  const hasCallers = () => poller.runIds.length > 0;
  // If the query fails, the runs count as executed elsewhere, because an outage of the database can
  // be over before the grace period ends.
  const areExecuted = async () =>
    (await undefinedAfter(
      areExecutedElsewhere(ports.database, ports.process.id, poller.runIds).catch(() => true),
      leftMs(),
    )) ?? true;
  // Wakes the streams of runs that other processes execute. The streams then end, since this
  // process is stopping, and their clients resume them at another process: see `subscribeToRun`.
  poller.wakeAll();
  void findLostClaims();
  await until(isIdle, graceMs);
  while (hasCallers() && leftMs() > 0 && (await areExecuted()))
    await until(() => !hasCallers(), Math.min(queryIntervalMs, leftMs()));
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
