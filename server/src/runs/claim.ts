import { elapsed, sleep } from "../base/clock.ts";
import { newId } from "../base/ids.ts";
import { claimAbandoned, claimLastAttempt, endExhausted } from "./abandoned-statement.ts";
import { type Claimant, type ClaimedRun, claimLimited, claimQueued, findClaimed, type Taken } from "./claim-statement.ts";
import { executeOwned } from "./execute.ts";
import type { Runtime } from "./runtime.ts";

/** Runs taken in one statement, at most: enough to fill a process quickly, few enough that others get their share. */
const batch = 50;

/** Milliseconds to leave to a process that is at the same runs. */
const contendedMs = 5;

/** Milliseconds in which a claim whose connection broke may still take effect: the statement's own limit, and some more. */
const unsureMs = 30_000;

/**
 * Takes queued runs, as far as this process has room, and begins to execute them.
 * @returns whether more may be waiting that it has room for.
 */
export async function claimRuns(runtime: Runtime): Promise<boolean> {
  const limited = () => take(runtime, batch, (claim) => claimLimited(runtime.database, claim));
  const unlimited = async () => {
    const taken = await take(runtime, batch, (claim) => claimQueued(runtime.database, claim));
    runtime.room.queueEmpty = taken === "all";
    return taken;
  };
  // Either may come first: always the same one would take all the room for as long as it has a flood.
  const [first, second] = Math.random() < 0.5 ? [limited, unlimited] : [unlimited, limited];
  const taken = [await first(), await second()];
  if (taken.includes("some")) return true;
  if (!taken.includes("contended")) return false;
  await sleep(contendedMs);
  return true;
}

/** Takes over what dead processes have left, and ends what may not be taken over again. */
export async function takeOverRuns(runtime: Runtime): Promise<void> {
  await endExhausted(runtime.database, batch);
  while ((await take(runtime, batch, (claim) => claimAbandoned(runtime.database, claim))) === "some");
  await takeLastAttempt(runtime);
}

/** Takes over one run that may be given to no other process any more, unless this process has such a one; the next when it is done with it. */
async function takeLastAttempt(runtime: Runtime): Promise<void> {
  const { room, live } = runtime;
  if (room.takingLast || [...live.values()].some((run) => run.lastAttempt)) return;
  room.takingLast = true;
  try {
    await take(runtime, 1, (claim) => claimLastAttempt(runtime.database, claim), { lastAttempt: true });
  } finally {
    room.takingLast = false;
  }
}

/**
 * Executes what claims without an answer have taken after all. Nobody else would: this process owns these runs, and lives. Looked for until
 * no such claim can take effect any more.
 */
export async function executeLostClaims(runtime: Runtime): Promise<void> {
  for (const claim of [...runtime.unsureClaims]) {
    const over = elapsed() > claim.until;
    for (const run of await findClaimed(runtime.database, claim)) {
      if (runtime.live.has(run.runId)) continue;
      runtime.room.taken++;
      execute(runtime, run, claim);
    }
    if (over) runtime.unsureClaims.delete(claim);
  }
}

/**
 * `all`: nothing is left to take. `some`: there may be more. `contended`: there is more, which another process is just at. `full`: there may
 * be more, and no room.
 */
async function take(
  runtime: Runtime,
  most: number,
  claim: (claim: Claimant) => Promise<Taken>,
  options: { lastAttempt?: boolean } = {},
): Promise<"all" | "some" | "contended" | "full"> {
  const { room, processId: owner } = runtime;
  const limit = room.open && !runtime.heap.isFull ? Math.min(most, room.max - room.taken) : 0;
  if (limit <= 0) return "full";
  const claimant = { owner, eventIds: Array.from({ length: limit }, () => newId("evt")), except: runtime.budget.waitingOwners, ...options };
  room.taken += limit;
  let taken: Taken = { runs: [], contended: false };
  try {
    taken = await claim(claimant);
  } catch (thrown) {
    runtime.unsureClaims.add({ ...claimant, until: elapsed() + unsureMs });
    throw thrown;
  } finally {
    room.taken -= limit - taken.runs.length;
  }
  if (taken.runs.length > 0) runtime.tail.grew();
  for (const run of taken.runs) execute(runtime, run, claimant);
  if (taken.runs.length === limit) return "some";
  return taken.contended ? "contended" : "all";
}

/** Begins to execute what was claimed; what its caller was refused meanwhile only to end it. */
function execute(runtime: Runtime, run: ClaimedRun, { owner, lastAttempt = false }: { owner: string; lastAttempt?: boolean }): void {
  const unanswered = runtime.unanswered.get(run.runId);
  if (unanswered !== undefined) unanswered.claimed = run;
  const cancelRequested = run.cancelRequested || unanswered?.refused === true;
  const executed = executeOwned(runtime, { ...run, owner, lastAttempt, cancelRequested, fromQueue: true });
  // What fails here is tried again at the worker's next look.
  if (lastAttempt) void executed.then(() => takeLastAttempt(runtime)).catch(() => {});
}
