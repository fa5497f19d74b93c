import { type Database, retryWhileLost } from "../../base/database/index.ts";
import { RunStopped } from "../../engine/index.ts";
import type { RunRef } from "../run.ts";
import type { LiveRun } from "../subscribing/index.ts";
import { readHolds } from "./hold-store.ts";
import type { RunJournal } from "./run-journal.ts";
import type { WorkerCalls } from "./worker-calls.ts";

/** The services that holding a run needs. */
export interface HoldPorts {
  readonly database: Database;
  readonly worker: Pick<WorkerCalls, "noteHeld">;
}

/**
 * Holds a run that a limit rejects before its first model call, or whose deadline passed while it
 * waited for the limit, if its trigger is set to hold runs. The request that started the run was
 * accepted, and its sender will not repeat it.
 * @returns if the run is not to be held.
 * @throws {RunStopped} if the run is held, because this process does not own it any more, or if its
 *   journal rejects the hold, because it was cancelled or another process owns it.
 */
export async function holdRun(
  { database, worker }: HoldPorts,
  { run, live, journal }: { run: RunRef; live: LiveRun; journal: RunJournal },
): Promise<void> {
  if (journal.reportsCalls) return;
  // Without the run's signal: the deadline may have passed, and must not prevent the hold. Writing
  // any other end would wait for the database as well.
  if (!(await retryWhileLost(() => readHolds(database, run)))) return;
  await journal.hold();
  worker.noteHeld();
  live.stop("fenced");
  // If the deadline has stopped the run, it is the reason of the signal.
  throw new RunStopped("fenced");
}
