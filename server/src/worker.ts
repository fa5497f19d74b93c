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

/** Milliseconds between looks at what is due; wake-ups spare most of the wait. */
const interval = 1_000;
/** Every how many looks what changes slowly is swept. */
const sweepEvery = 60;

/** The door for what is due: claims runs and calls the verbs that execute, take over, cancel and expire them. */
export interface Worker {
  /** Takes nothing more. What executes goes on. */
  stop(): Promise<void>;
}

/** Begins to look, at once and then when woken or every second. A database that is away is looked at again at the next turn. */
export function startWorker(
  runs: RunServices,
  options: { recordLapsed: () => Promise<void> },
): Worker {
  const stopping = new AbortController();
  const claims = serially(stopping.signal, () => attempt("claiming runs", () => claimRuns(runs)));
  const takeOvers = serially(stopping.signal, () =>
    attempt("taking over runs", () => takeOverRuns(runs)),
  );
  runs.worker.connect({ claim: claims.wake, takeOver: takeOvers.wake });
  runs.processMessages.onMessage = (message) => hear(runs, message);

  async function attempt<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    if (stopping.signal.aborted) return undefined;
    try {
      return await act();
    } catch (thrown) {
      const level = failureKind(thrown) === "lost" ? "warn" : "error";
      runs.log[level]({ reason: messageOf(thrown) }, `${what} failed; it is tried again`);
      return undefined;
    }
  }

  async function look(): Promise<void> {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      await attempt("recording deaths", options.recordLapsed);
      runs.worker.takeOver();
      await attempt("looking for lost claims", () => executeLostClaims(runs));
      runs.worker.claim();
      await attempt("looking for cancelled runs", async () => {
        const runIds = await cancelledRuns(runs.database.engine, runs.process.id);
        for (const runId of runIds) runs.live.get(runId)?.stop("cancelled");
      });
      if (turn % sweepEvery === 0) {
        await attempt("expiring queued runs", () => expireQueued(runs.database));
        await attempt("forgetting dead processes", () => forgetDead(runs.database.engine));
      }
      await sleep(interval, stopping.signal).catch(() => {});
    }
  }

  const looking = look();
  return {
    async stop() {
      stopping.abort();
      runs.worker.disconnect();
      await Promise.all([looking, claims.idle(), takeOvers.idle()]);
    },
  };
}

/** Calls `act` after each wake, and again as long as it says so, never twice at the same time. */
function serially(
  stopping: AbortSignal,
  act: () => Promise<unknown>,
): { wake: () => void; idle: () => Promise<void> } {
  let again = false;
  let acting: Promise<void> | undefined;
  async function run(): Promise<void> {
    do {
      again = false;
      // What wakes in one turn of the event loop, starts above all, is acted on together.
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

/** What another process has told. */
function hear(runs: RunServices, message: ProcessMessage | undefined): void {
  switch (message?.kind) {
    case "cancel":
      stopHere(runs, message.runId);
      break;
    case "watch": {
      const live = runs.live.get(message.runId);
      if (live === undefined) break;
      live.watchedElsewhere = true;
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
      lookForQueued(runs);
      break;
    case undefined:
      lookForQueued(runs);
      runs.tail.noteRemoteSubscriber();
      runs.tail.wake();
  }
}

function lookForQueued(runs: RunServices): void {
  runs.capacity.foundQueue({ empty: false });
  runs.worker.claim();
}
