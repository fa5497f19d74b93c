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
  type ClaimResult,
  claimLimited,
  claimQueued,
  findClaimed,
} from "./claim-statement.ts";
import { endExhausted } from "./end-exhausted.ts";

/** The services that claiming runs needs. */
export interface ClaimPorts {
  readonly database: Database;
  readonly process: Pick<OwnProcess, "id">;
  readonly live: LiveRuns;
  readonly unconfirmedStarts: UnconfirmedStarts;
  readonly unconfirmedClaims: Set<UnconfirmedClaim>;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "takeOver">;
  readonly tail: Pick<EventPoller, "noteWritten">;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
}

/** A claim without a reply of the database: it may be committed, now or later. */
export interface UnconfirmedClaim extends Claimant {
  readonly lastAttempt?: LastAttempt;
  /** When it can no longer be committed, as a value of `elapsed()`. */
  readonly until: number;
}

/**
 * Maximum of runs in one claim: enough to fill a process quickly, few enough that other processes
 * get some.
 */
const maxBatchRuns = 50;

/** Wait before a claim is repeated because another process had locked some of the runs. */
const contendedRetryMs = 5;

/** How long a claim can still commit after its connection broke: above its statement timeout. */
const unconfirmedMs = 30_000;

/**
 * Claims queued runs up to the capacity of this process, and starts to execute them.
 * @returns whether to call it again, because there may be more runs and capacity for them.
 */
export async function claimRuns(ports: ClaimPorts): Promise<boolean> {
  const limited = () =>
    claimUpTo(ports, maxBatchRuns, (claim) => claimLimited(ports.database, claim));
  const unlimited = async () => {
    const result = await claimUpTo(ports, maxBatchRuns, (claim) =>
      claimQueued(ports.database, claim),
    );
    ports.capacity.foundQueue({ empty: result === "all" });
    return result;
  };
  // In random order: with a fixed one, a flood in the first queue would take all the capacity.
  const [first, second] = Math.random() < 0.5 ? [limited, unlimited] : [unlimited, limited];
  const results = [await first(), await second()];
  if (results.includes("some")) return true;
  if (!results.includes("contended")) return false;
  await sleep(contendedRetryMs);
  return true;
}

/**
 * Takes over the runs of dead processes, and ends those without an attempt left. The worker calls
 * it again when a run on its last attempt has ended, since other suspects wait for that. Calls must
 * not overlap.
 */
export async function takeOverRuns(ports: ClaimPorts): Promise<void> {
  const { database } = ports;
  if (!(await countSuspects(database))) return;
  await endExhausted(database, maxBatchRuns);
  const cancelled = (claim: Claimant) => claimCancelled(database, claim);
  while ((await claimUpTo(ports, maxBatchRuns, cancelled, { onlyToEnd: true })) === "some");
  const abandoned = (claim: Claimant) => claimAbandoned(database, claim);
  while ((await claimUpTo(ports, maxBatchRuns, abandoned)) === "some");
  await takeLastAttempts(ports);
}

/** Takes over runs for their last attempt, unless an earlier such claim is unconfirmed. */
async function takeLastAttempts(ports: ClaimPorts): Promise<void> {
  if ([...ports.unconfirmedClaims].some((claim) => claim.lastAttempt !== undefined)) return;
  const executing = [...ports.live.values()].flatMap(({ lastAttempt }) => lastAttempt ?? []);
  const claim = (claimant: Claimant) => claimLastAttempts(ports.database, claimant, executing);
  // If the reply is lost, it is unknown which runs were taken: `repeated` is the stricter case.
  await claimUpTo(ports, maxTogether, claim, { lastAttempt: "repeated" });
}

/**
 * Executes the runs of unconfirmed claims that were committed. No other process would, since this
 * one owns the runs and is alive. To be called until no such claim can be committed any more.
 */
export async function executeLostClaims(ports: ClaimPorts): Promise<void> {
  for (const claim of [...ports.unconfirmedClaims]) {
    const isOver = elapsed() > claim.until;
    const found = await findClaimed(ports.database, claim);
    for (const run of found) {
      if (ports.live.has(run.runId)) continue;
      ports.capacity.reserve(1);
      execute(ports, run, claim);
    }
    // A claim for last attempts is a single statement, so it is complete once any run is found.
    if (isOver || (claim.lastAttempt !== undefined && found.length > 0))
      ports.unconfirmedClaims.delete(claim);
  }
}

/**
 * Claims runs up to the free capacity, and starts to execute them.
 * @returns `all`: no runs are left. `some`: there may be more. `contended`: another process had
 *   locked some of the runs. `full`: nothing was claimed, for lack of capacity.
 */
async function claimUpTo(
  ports: ClaimPorts,
  maxRuns: number,
  claim: (claim: Claimant) => Promise<ClaimResult>,
  { onlyToEnd = false, ...options }: { onlyToEnd?: boolean; lastAttempt?: LastAttempt } = {},
): Promise<"all" | "some" | "contended" | "full"> {
  const { capacity } = ports;
  const owner = ports.process.id;
  const limit = onlyToEnd && capacity.isOpen ? maxRuns : Math.min(maxRuns, capacity.free);
  if (limit === 0) return "full";
  const claimant = {
    owner,
    eventIds: Array.from({ length: limit }, () => newId("evt")),
    except: ports.memory.runs.waitingOwners,
    ...options,
  };
  capacity.reserve(limit);
  let result: ClaimResult = { runs: [], contended: false };
  try {
    result = await claim(claimant);
  } catch (thrown) {
    ports.unconfirmedClaims.add({ ...claimant, until: elapsed() + unconfirmedMs });
    throw thrown;
  } finally {
    capacity.release(limit - result.runs.length);
  }
  if (result.runs.length > 0) ports.tail.noteWritten();
  for (const run of result.runs) execute(ports, run, claimant);
  if (result.runs.length === limit) return "some";
  return result.contended ? "contended" : "all";
}

/** Starts to execute a claimed run. A run whose caller got `503` meanwhile is only ended. */
function execute(
  ports: ClaimPorts,
  run: ClaimedRun,
  claim: { readonly owner: string; readonly lastAttempt?: LastAttempt },
): void {
  const start = ports.unconfirmedStarts.get(run.runId);
  if (start !== undefined) start.claimed = run;
  const cancelRequested = run.cancelRequested || start?.rejected !== undefined;
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
