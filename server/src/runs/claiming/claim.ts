import { elapsed, sleep } from "../../base/clock.ts";
import type { Database } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import type { EventPoller } from "../../events/index.ts";
import type { OwnProcess } from "../../processes/index.ts";
import type { Capacity, Memory, OwnedRun, WorkerCalls } from "../executing/index.ts";
import type { UnconfirmedStarts } from "../starting/index.ts";
import type { LastAttempt, LiveRuns } from "../subscribing/index.ts";
import {
  claimAbandoned,
  claimCancelled,
  claimLastAttempts,
  countSuspects,
  maxTogether,
} from "./abandoned-statement.ts";
import {
  type Claimant,
  type ClaimedRun,
  claimLimited,
  claimQueued,
  findClaimed,
  type Taken,
} from "./claim-statement.ts";
import { endExhausted } from "./end-exhausted.ts";

/** What claiming runs needs of this process. */
export interface ClaimPorts {
  readonly database: Database;
  readonly process: Pick<OwnProcess, "id">;
  readonly live: LiveRuns;
  readonly unconfirmedStarts: UnconfirmedStarts;
  /** Claims that had no answer, and may have taken effect or still do. */
  readonly unconfirmedClaims: Set<UnconfirmedClaim>;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "takeOver">;
  readonly tail: Pick<EventPoller, "noteWritten">;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
}

/** A claim that had no answer: it may have taken effect, or still do. */
export interface UnconfirmedClaim extends Claimant {
  readonly lastAttempt?: LastAttempt;
  /** On the process's clock. */
  readonly until: number;
}

/** Runs taken in one statement, at most: enough to fill a process quickly, few enough that others get their share. */
const batch = 50;

/** Milliseconds to leave to a process that is at the same runs. */
const contendedMs = 5;

/** Milliseconds in which a claim whose connection broke may still take effect: the statement's own limit, and some more. */
const unconfirmedMs = 30_000;

/**
 * Takes queued runs, as far as this process has room, and begins to execute them.
 * @returns whether more may be waiting that it has room for.
 */
export async function claimRuns(ports: ClaimPorts): Promise<boolean> {
  const limited = () => take(ports, batch, (claim) => claimLimited(ports.database, claim));
  const unlimited = async () => {
    const taken = await take(ports, batch, (claim) => claimQueued(ports.database, claim));
    ports.capacity.foundQueue({ empty: taken === "all" });
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

/**
 * Takes over what dead processes have left, and ends what is not to be taken over again. The worker
 * calls it again when a run on its last attempt has ended, since the next ones wait for that, and
 * never twice at the same time.
 */
export async function takeOverRuns(ports: ClaimPorts): Promise<void> {
  const { database } = ports;
  if (!(await countSuspects(database))) return;
  await endExhausted(database, batch);
  while (
    (await take(ports, batch, (claim) => claimCancelled(database, claim), { onlyToEnd: true })) ===
    "some"
  );
  while ((await take(ports, batch, (claim) => claimAbandoned(database, claim))) === "some");
  await takeLastAttempts(ports);
}

/** Takes over runs for their last attempt, unless a claim of such may still take effect. */
async function takeLastAttempts(ports: ClaimPorts): Promise<void> {
  if ([...ports.unconfirmedClaims].some((claim) => claim.lastAttempt !== undefined)) return;
  const executing = [...ports.live.values()].flatMap(({ lastAttempt }) => lastAttempt ?? []);
  const claim = (claimant: Claimant) => claimLastAttempts(ports.database, claimant, executing);
  // Of a claim whose reply is lost it is not known which it was: the stricter one holds.
  await take(ports, maxTogether, claim, { lastAttempt: "repeated" });
}

/**
 * Executes what claims without an answer have taken after all. Nobody else would: this process owns these runs, and lives. Looked for until
 * no such claim can take effect any more.
 */
export async function executeLostClaims(ports: ClaimPorts): Promise<void> {
  for (const claim of [...ports.unconfirmedClaims]) {
    const over = elapsed() > claim.until;
    const found = await findClaimed(ports.database, claim);
    for (const run of found) {
      if (ports.live.has(run.runId)) continue;
      ports.capacity.reserve(1);
      execute(ports, run, claim);
    }
    // One for last attempts is a single statement: it has taken effect, and holds up the next one
    // no more.
    if (over || (claim.lastAttempt !== undefined && found.length > 0))
      ports.unconfirmedClaims.delete(claim);
  }
}

/**
 * `all`: nothing is left to take. `some`: there may be more. `contended`: there is more, which another process is just at. `full`: there may
 * be more, and no room.
 */
async function take(
  ports: ClaimPorts,
  most: number,
  claim: (claim: Claimant) => Promise<Taken>,
  { onlyToEnd = false, ...options }: { onlyToEnd?: boolean; lastAttempt?: LastAttempt } = {},
): Promise<"all" | "some" | "contended" | "full"> {
  const { capacity } = ports;
  const owner = ports.process.id;
  const limit = onlyToEnd && capacity.isOpen ? most : Math.min(most, capacity.free);
  if (limit === 0) return "full";
  const claimant = {
    owner,
    eventIds: Array.from({ length: limit }, () => newId("evt")),
    except: ports.memory.runs.waitingOwners,
    ...options,
  };
  capacity.reserve(limit);
  let taken: Taken = { runs: [], contended: false };
  try {
    taken = await claim(claimant);
  } catch (thrown) {
    ports.unconfirmedClaims.add({ ...claimant, until: elapsed() + unconfirmedMs });
    throw thrown;
  } finally {
    capacity.release(limit - taken.runs.length);
  }
  if (taken.runs.length > 0) ports.tail.noteWritten();
  for (const run of taken.runs) execute(ports, run, claimant);
  if (taken.runs.length === limit) return "some";
  return taken.contended ? "contended" : "all";
}

/** Begins to execute what was claimed; what its caller was refused meanwhile only to end it. */
function execute(
  ports: ClaimPorts,
  run: ClaimedRun,
  claim: { readonly owner: string; readonly lastAttempt?: LastAttempt },
): void {
  const start = ports.unconfirmedStarts.get(run.runId);
  if (start !== undefined) start.claimed = run;
  const cancelRequested = run.cancelRequested || start?.isRejected === true;
  const lastAttempt = run.lastAttempt ?? claim.lastAttempt;
  const executed = ports.execute({
    ...run,
    owner: claim.owner,
    lastAttempt,
    cancelRequested,
    fromQueue: true,
  });
  if (lastAttempt !== undefined) void executed.then(() => ports.worker.takeOver());
}
