import { elapsed, pause, undefinedAfter } from "./base/clock.ts";
import { attemptTask, type ProcessMessage } from "./base/database/index.ts";
import { createSerialTask } from "./base/tasks/index.ts";
import { forgetDead } from "./processes/index.ts";
import { returnReservations } from "./reservations/index.ts";
import {
  announceQueued,
  cancelledRuns,
  claimRuns,
  expireQueued,
  type RunServices,
  releaseHeld,
  severalWorkspacesHaveAgents,
  stopHere,
  takeOverRuns,
  wakeClaims,
} from "./runs/index.ts";
import { rollUp, withKnownTimeZones } from "./usage/index.ts";

/**
 * Time between two polls of the database. Messages from other processes usually wake the worker
 * earlier.
 */
const pollIntervalMs = 1_000;
/** Default of `pollsPerSweep`, the number of polls from one sweep to the next. */
export const defaultPollsPerSweep = 60;
/**
 * Number of polls from one call of `returnReservations` to the next. `returnReservations` returns
 * amounts that are still reserved for runs that have ended, and for runs that were released to the
 * queue and whose journal reports all their calls.
 */
const pollsPerReturn = 20;
/** Number of polls from one search for a transaction that holds back events to the next. */
const pollsPerHorizon = 5;
/** Maximum time that claims wait for one failover: slow failovers must not stop the queue. */
const maxTakeOverWaitMs = 2_000;

/**
 * The background tasks of a process, whatever its `BECKON_ROLE`. With every role, they end queued
 * and held runs that have expired and runs that have no attempt left, queue held runs, return
 * reservations, change plans, correct periods of limits, sum up usage and find transactions that
 * hold back events. They also claim and take over runs, up to the process's capacity, which is 0
 * with the role `api`.
 */
export interface Worker {
  /**
   * Resolved after the first claim, whether it succeeded or not. Until then, new runs are queued,
   * because older runs may be waiting.
   */
  readonly firstClaim: Promise<void>;
  /** Stops all tasks, and waits for those in progress. Runs that already execute continue. */
  stop(): Promise<void>;
}

/**
 * Starts the worker. The worker polls the database at once and then every second. Messages also
 * wake it between polls. If a task fails, for example while the database is unreachable, the
 * failure is logged and the next poll tries again.
 */
export function startWorker(
  runs: RunServices,
  options: {
    /** Declares processes with expired leases dead. Returns whether there were any. */
    recordExpired: () => Promise<boolean>;
    applyNextPlans: (stopping: AbortSignal) => Promise<void>;
    correctPeriods: (stopping: AbortSignal) => Promise<void>;
    /** Wakes the sender of deliveries. Does nothing in a process that sends none. */
    wakeSender: () => void;
    pollsPerSweep: number;
  },
): Worker {
  const { pollsPerSweep } = options;
  const stopping = new AbortController();
  let endedTakeOvers = 0;
  /** Value of `endedTakeOvers` when a claim stopped waiting for the failover in progress. */
  let waitedAt: number | undefined;
  const takeOvers = createSerialTask(stopping.signal, async () => {
    await attempt("taking over runs", () => takeOverRuns(runs));
    endedTakeOvers++;
  });
  const claims = createSerialTask(stopping.signal, async () => {
    // Abandoned runs take precedence over queued runs. If both were claimed at the same time, the
    // queue would usually get the capacity that becomes free, because every run that ends makes
    // this process claim.
    const { capacity } = runs;
    const until = elapsed() + maxTakeOverWaitMs;
    let waits = capacity.hasAbandoned && endedTakeOvers !== waitedAt;
    while (waits && elapsed() < until && !stopping.signal.aborted) {
      await undefinedAfter(takeOvers.next(), until - elapsed());
      // A run can end in the last part of a failover, which no longer takes over runs. Another
      // failover then uses the capacity.
      waits = capacity.hasAbandoned && capacity.free > 0;
    }
    // The next claims do not wait for the same failover again: each claims few runs.
    if (waits) waitedAt = endedTakeOvers;
    return attempt("claiming runs", () => claimRuns(runs));
  });
  /**
   * Whether there can be held runs, which wait because of a paused agent or a spent limit. If so,
   * each poll finds out which of them can be queued. The value becomes true when this process
   * creates a held run. The sweep finds the held runs of other processes.
   */
  let canBeHeld = true;
  const releases = createSerialTask(stopping.signal, () =>
    attempt("releasing held runs", async () => {
      // Set to false before the query: if a run is held during the query, `noteHeld` sets it to
      // true again.
      canBeHeld = false;
      const released = await releaseHeld(runs.database).catch((thrown: unknown) => {
        canBeHeld = true;
        throw thrown;
      });
      if (released === undefined) return;
      canBeHeld = true;
      if (released === 0) return;
      runs.eventPoller.noteWritten();
      announceQueued(runs);
    }),
  );
  const rollUps = createSerialTask(stopping.signal, () =>
    attempt("summing up usage", () => rollUp(runs.database, stopping.signal)),
  );
  // The polls do not wait for these three, which can take minutes: after a long downtime, after a
  // jump of the clock, or when a month begins and many workspaces change their plan.
  const planChanges = createSerialTask(stopping.signal, () =>
    attempt("changing plans", () => options.applyNextPlans(stopping.signal)),
  );
  const corrections = createSerialTask(stopping.signal, () =>
    attempt("correcting the periods of limits", () => options.correctPeriods(stopping.signal)),
  );
  const expiries = createSerialTask(stopping.signal, () =>
    attempt("expiring queued runs", async () =>
      runs.reports.expired(await expireQueued(runs.database, stopping.signal)),
    ),
  );
  runs.worker.connect({
    claim: claims.wake,
    nextClaim: claims.next,
    takeOver: takeOvers.wake,
    release: releases.wake,
    noteHeld: () => {
      canBeHeld = true;
    },
  });
  runs.processMessages.onMessage((message) => handleMessage(runs, options.wakeSender, message));

  // Each task can fail because PostgreSQL no longer knows a workspace's time zone.
  // `withKnownTimeZones` then replaces it and repeats the task. The roll-up reads all time zones,
  // so each sweep finds unknown ones.
  async function attempt<T>(task: string, act: () => Promise<T>): Promise<T | undefined> {
    return stopping.signal.aborted
      ? undefined
      : attemptTask(runs.log, task, () => withKnownTimeZones(runs, act));
  }

  /** Does what is rarely due, and what only other processes have noticed. */
  async function sweep(): Promise<void> {
    // Queues held runs that can start, including those that other processes have held.
    runs.worker.release();
    expiries.wake();
    corrections.wake();
    planChanges.wake();
    await attempt("finding workspaces with agents", async () =>
      runs.capacity.foundWorkspaces({
        several: await severalWorkspacesHaveAgents(runs.database),
      }),
    );
    await attempt("deleting dead processes", () => forgetDead(runs.database.engine));
    await attempt("finding subscriptions", () => runs.subscriptions.refresh(runs.database));
    rollUps.wake();
  }

  async function poll(): Promise<void> {
    let isBusy = false;
    for (let count = 0; !stopping.signal.aborted; count++) {
      const areDead = await attempt("declaring processes dead", options.recordExpired);
      if (areDead) runs.capacity.foundDeaths();
      runs.worker.takeOver();
      runs.worker.claim();
      if (canBeHeld) runs.worker.release();
      if (count % pollsPerSweep === 0) await sweep();
      if (count % pollsPerReturn === 0)
        await attempt("returning reservations", async () =>
          runs.onReturned(await returnReservations(runs.database)),
        );
      if (count % pollsPerHorizon === 0)
        await attempt("finding transactions that hold back events", () =>
          runs.eventPoller.horizon.poll(),
        );
      // Usage is also summed up when the last run of this process has just ended, because usage
      // reports otherwise have to add up every entry since the last sweep.
      const wasBusy = isBusy;
      isBusy = runs.live.size > 0;
      if (wasBusy && !isBusy) rollUps.wake();
      await pause(pollIntervalMs, stopping.signal);
    }
  }

  const firstClaim = claims.next();
  const polling = poll();
  return {
    firstClaim,
    async stop() {
      stopping.abort();
      await Promise.all([
        polling,
        claims.idle(),
        takeOvers.idle(),
        releases.idle(),
        rollUps.idle(),
        expiries.idle(),
        corrections.idle(),
        planChanges.idle(),
      ]);
      // Comes last: while the worker stops, `nextClaim` must still wait for a claim in progress.
      runs.worker.disconnect();
    },
  };
}

/**
 * Polls every second for runs of this process whose cancellation was requested, and stops them. A
 * message usually does so earlier. These polls are not a task of the worker, because they must
 * continue while a stopping process drains: the message can be lost then, too.
 * @returns a function that ends the polls, and waits for one in progress.
 */
export function pollCancellations(
  runs: Pick<RunServices, "database" | "log" | "live" | "process">,
): () => Promise<void> {
  const stopping = new AbortController();
  async function poll(): Promise<void> {
    while (!stopping.signal.aborted) {
      await attemptTask(runs.log, "finding cancelled runs", async () => {
        const runIds = await cancelledRuns(runs.database.engine, runs.process.id);
        for (const runId of runIds) runs.live.get(runId)?.stop("cancelled");
      });
      await pause(pollIntervalMs, stopping.signal);
    }
  }
  const polling = poll();
  return async () => {
    stopping.abort();
    await polling;
  };
}

/**
 * Handles a message from another process.
 * @param message undefined if messages may have been lost. The function then does the same as for
 *   the messages `limits`, `queued`, `eventSubscribers`, `events` and `deliveries`, because each of
 *   them may be among the lost ones. The other kinds need nothing:
 *   - `cancel`: `pollCancellations` finds the run within a second.
 *   - `runSubscribers` and `journal`: the process with the subscribers polls the journals of their
 *     runs every half second.
 *   - `returned`: what is done for `limits` includes it.
 */
function handleMessage(
  runs: RunServices,
  wakeSender: () => void,
  message: ProcessMessage | undefined,
): void {
  switch (message?.kind) {
    case "cancel":
      stopHere(runs, message.runId);
      break;
    case "runSubscribers": {
      const live = runs.live.get(message.runId);
      if (live === undefined) break;
      live.hasRemoteSubscribers = true;
      runs.processMessages.send({ kind: "journal", runId: message.runId });
      break;
    }
    case "journal":
      runs.subscribers.poller.wake(message.runId);
      break;
    case "eventSubscribers":
      runs.eventPoller.noteRemoteSubscriber();
      break;
    case "events":
      runs.eventPoller.wake();
      break;
    case "limits":
      runs.reservations.wake(message.workspaceId);
      runs.worker.release();
      break;
    case "returned":
      runs.reservations.wakeWaiting(message.workspaceId);
      runs.worker.release();
      break;
    case "queued":
      wakeClaims(runs);
      break;
    case "deliveries":
      wakeSender();
      break;
    case undefined:
      wakeSender();
      for (const workspaceId of new Set([
        ...[...runs.live.values()].map((live) => live.workspaceId),
        // `limited` returns the workspaces that have limits. They are added, because a run that is
        // being started is not in `live` yet.
        ...runs.reservations.limited(),
      ]))
        runs.reservations.wake(workspaceId);
      runs.worker.release();
      wakeClaims(runs);
      runs.eventPoller.noteRemoteSubscriber();
      runs.eventPoller.wake();
  }
}
