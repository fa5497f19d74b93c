import { sleep } from "./base/clock.ts";
import { failureKind, type ProcessMessage } from "./base/database/index.ts";
import { messageOf } from "./base/errors.ts";
import { forgetDead } from "./processes/index.ts";
import {
  cancelledRuns,
  claimRuns,
  executeLostClaims,
  expireQueued,
  type RunServices,
  stopHere,
  takeOverRuns,
} from "./runs/index.ts";

/**
 * Time between two polls of the database. Messages from other processes usually wake the worker
 * earlier.
 */
const pollIntervalMs = 1_000;
/** Every 60th poll also expires queued runs and deletes dead processes. */
const pollsPerSweep = 60;

/** The part of a server that claims, takes over, cancels and expires runs. */
export interface Worker {
  /** Stops claiming. Runs that execute continue. */
  stop(): Promise<void>;
}

/**
 * Starts the worker. It polls at once, then every second and when woken. While the database is
 * unreachable, each poll logs the failure and the next one tries again.
 */
export function startWorker(
  runs: RunServices,
  options: { recordExpired: () => Promise<void> },
): Worker {
  const stopping = new AbortController();
  const claims = serially(stopping.signal, () => attempt("claiming runs", () => claimRuns(runs)));
  const takeOvers = serially(stopping.signal, () =>
    attempt("taking over runs", () => takeOverRuns(runs)),
  );
  runs.worker.connect({ claim: claims.wake, takeOver: takeOvers.wake });
  runs.processMessages.onMessage = (message) => handleMessage(runs, message);

  async function attempt<T>(task: string, act: () => Promise<T>): Promise<T | undefined> {
    if (stopping.signal.aborted) return undefined;
    try {
      return await act();
    } catch (thrown) {
      const level = failureKind(thrown) === "lost" ? "warn" : "error";
      runs.log[level]({ reason: messageOf(thrown) }, `${task} failed; it will be retried`);
      return undefined;
    }
  }

  async function poll(): Promise<void> {
    for (let count = 0; !stopping.signal.aborted; count++) {
      await attempt("declaring processes dead", options.recordExpired);
      runs.worker.takeOver();
      await attempt("finding lost claims", () => executeLostClaims(runs));
      runs.worker.claim();
      await attempt("finding cancelled runs", async () => {
        const runIds = await cancelledRuns(runs.database.engine, runs.process.id);
        for (const runId of runIds) runs.live.get(runId)?.stop("cancelled");
      });
      if (count % pollsPerSweep === 0) {
        await attempt("expiring queued runs", () => expireQueued(runs.database));
        await attempt("deleting dead processes", () => forgetDead(runs.database.engine));
      }
      await sleep(pollIntervalMs, stopping.signal).catch(() => {});
    }
  }

  const polling = poll();
  return {
    async stop() {
      stopping.abort();
      runs.worker.disconnect();
      await Promise.all([polling, claims.idle(), takeOvers.idle()]);
    },
  };
}

/**
 * Calls `act` after each `wake`, and repeats it while it returns true. A call starts only after the
 * previous one has ended.
 */
function serially(
  stopping: AbortSignal,
  act: () => Promise<unknown>,
): { wake: () => void; idle: () => Promise<void> } {
  let again = false;
  let acting: Promise<void> | undefined;
  async function run(): Promise<void> {
    do {
      again = false;
      // Waits, so that one call of `act` handles all wakes of this turn of the event loop. Many
      // runs that start at the same time cause many wakes.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (stopping.aborted) return;
      again = (await act()) === true || again;
    } while (again);
  }
  return {
    wake() {
      again = true;
      acting ??= run().finally(() => {
        acting = undefined;
      });
    },
    idle: async () => acting,
  };
}

/**
 * Handles a message of another process. With undefined, messages may have been lost, so it does
 * what lost messages could require.
 */
function handleMessage(runs: RunServices, message: ProcessMessage | undefined): void {
  switch (message?.kind) {
    case "cancel":
      stopHere(runs, message.runId);
      break;
    case "watch": {
      const live = runs.live.get(message.runId);
      if (live === undefined) break;
      live.hasRemoteSubscribers = true;
      runs.processMessages.send({ kind: "journal", runId: message.runId });
      break;
    }
    case "journal":
      runs.subscribers.pollers.wake(message.runId);
      break;
    case "follow":
      runs.tail.noteRemoteSubscriber();
      break;
    case "events":
      runs.tail.wake();
      break;
    case "queued":
      claimQueued(runs);
      break;
    case undefined:
      claimQueued(runs);
      runs.tail.noteRemoteSubscriber();
      runs.tail.wake();
  }
}

function claimQueued(runs: RunServices): void {
  runs.capacity.foundQueue({ empty: false });
  runs.worker.claim();
}
