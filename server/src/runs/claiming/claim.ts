import { elapsed, sleep } from "../../base/clock.ts";
import type { Database } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import type { EventPoller } from "../../events/index.ts";
import type { OwnProcess } from "../../processes/index.ts";
import type { Reservations } from "../../reservations/index.ts";
import type { Capacity, Memory, OwnedRun, WorkerCalls } from "../executing/index.ts";
import type { Pricer } from "../pricer.ts";
import type { RunReports } from "../reports.ts";
import type { LastAttempt } from "../run.ts";
import type { UnconfirmedStarts } from "../starting/index.ts";
import type { LiveRuns } from "../subscribing/index.ts";
import {
  claimAbandoned,
  claimCancelled,
  claimLastAttempts,
  countSuspects,
  maxTogether,
} from "./abandoned-statement.ts";
import {
  type ClaimedRun,
  type ClaimRequest,
  type ClaimResult,
  claimLimited,
  claimQueued,
  findClaimed,
} from "./claim-statement.ts";
import { endExhausted } from "./end-exhausted.ts";
import type { UnreadableRuns } from "./unreadable-runs.ts";
import { type ClaimScope, excludedIds, waitingScope } from "./waiting-scope.ts";

/** The services that claiming runs needs. */
export interface ClaimPorts {
  readonly database: Database;
  readonly process: Pick<OwnProcess, "id" | "areCommitsVisible">;
  readonly live: LiveRuns;
  readonly unconfirmedStarts: UnconfirmedStarts;
  readonly unreadable: UnreadableRuns;
  readonly unconfirmedClaims: Set<UnconfirmedClaim>;
  readonly capacity: Capacity;
  readonly memory: Pick<Memory, "runs">;
  readonly worker: Pick<WorkerCalls, "takeOver">;
  readonly eventPoller: Pick<EventPoller, "noteWritten">;
  readonly pricer: Pricer;
  readonly reservations: Pick<Reservations, "noteClaimed" | "waiting" | "blocked">;
  /**
   * Called if money or usage that runs had reserved was returned to limits, with the workspaces in
   * which other runs may wait for it.
   */
  readonly onReturned: (workspaceIds: readonly string[]) => void;
  /** Executes a run that this process owns. */
  readonly execute: (run: OwnedRun) => Promise<void>;
  readonly reports: Pick<RunReports, "ended" | "resumed">;
}

/**
 * A claim to which the database has not replied. It may have been committed, or may still be
 * committed.
 */
export interface UnconfirmedClaim extends ClaimRequest {
  readonly lastAttempt?: LastAttempt;
  /** Runs of the claim that `executeLostClaims` has found and executed. */
  readonly executed: Set<string>;
  /** Time after which its commit can no longer begin, as a value of `elapsed()`. */
  readonly until: number;
}

/**
 * Maximum number of runs in one claim. It is large enough to fill a process quickly, and small
 * enough that other processes get some of the runs.
 */
const maxBatchRuns = 50;

/** Time before a claim is repeated because another process had locked some of the runs. */
const contendedRetryMs = 5;

/**
 * Maximum time from the loss of a claim's connection until PostgreSQL begins to commit the claim.
 * Longer than the statement timeout, after which PostgreSQL aborts a claim that still executes.
 */
const unconfirmedMs = 30_000;

/**
 * Maximum number of unconfirmed claims. At this number, the process claims nothing until some of
 * them can no longer be committed. It is reached only if the database executes the query of
 * `findClaimed` but no claims, for example because it accepts only reads.
 */
const maxUnconfirmed = 50;

/**
 * Executes the runs of claims whose replies were lost. Then claims queued runs up to the capacity
 * of this process, and starts to execute them.
 * @returns whether to call this function again, because there may be more queued runs and capacity
 *   for them.
 */
export async function claimRuns(ports: ClaimPorts): Promise<boolean> {
  // Throws while the database is unreachable. No further claim is then sent, so that an outage adds
  // only one unconfirmed claim.
  await executeLostClaims(ports);
  const results: ClaimOutcome[] = [];
  for (const { send, waiting } of inRandomOrder(queueClaims)) {
    const scope = waiting ? waitingScopeOf(ports) : othersScopeOf(ports);
    if (scope === undefined) continue;
    const { maxRuns } = scope;
    const { full, ...shares } = ports.capacity.shares(maxRuns);
    const except = [...scope.except, ...full];
    const result = await claimUpTo(ports, maxRuns, send, { except, ...shares });
    // Other processes are claiming what a contended claim skipped, so it does not show whether runs
    // are left. It is repeated.
    if (send === claimQueued && !waiting && result !== "contended")
      ports.capacity.foundQueue({ empty: result === "all", full });
    results.push(result);
  }
  if (results.includes("some")) return true;
  if (!results.includes("contended")) return false;
  await sleep(contendedRetryMs);
  return true;
}

/** Sends a claim to the database. */
type SendClaim = (database: Database, request: ClaimRequest) => Promise<ClaimResult>;

/**
 * The claims of queued runs, made in random order. In a fixed order, the runs that are claimed
 * first could always take all the capacity. Runs of agents with a concurrency limit and runs of
 * agents without one are claimed by separate statements. `waiting` is whether the claim also takes
 * runs of workspaces whose runs wait for a limit of money or usage.
 */
const queueClaims = [claimLimited, claimQueued].flatMap((send) => [
  { send, waiting: false },
  { send, waiting: true },
]);

function inRandomOrder<T>(all: readonly T[]): T[] {
  return all
    .map((each) => ({ each, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/** Returns the scope of a claim that takes no runs of `excludedIds`. */
function othersScopeOf({ reservations, capacity }: ClaimPorts): ClaimScope {
  return { except: excludedIds(reservations, capacity.max), maxRuns: maxBatchRuns };
}

/** Returns the scope of a claim with `waiting`; undefined if there is nothing to claim. */
function waitingScopeOf({ reservations, capacity }: ClaimPorts): ClaimScope | undefined {
  const scope = waitingScope(reservations.waiting(), capacity.max);
  return scope && { ...scope, maxRuns: Math.min(maxBatchRuns, scope.maxRuns) };
}

/**
 * Takes over the runs of dead processes, and ends those that have no attempt left. Records in
 * `Capacity.hasAbandoned` whether runs may be left that wait for capacity of this process. A
 * process that executes runs on their last attempts leaves some other runs on their last attempts
 * to later calls: see `claimLastAttempts`. So the worker also calls this function when a run on its
 * last attempt has ended. Calls must not overlap.
 */
export async function takeOverRuns(ports: ClaimPorts): Promise<void> {
  const { deaths } = ports.capacity;
  let left: "none" | "some" | "waiting" = "none";
  try {
    left = await takeOver(ports);
  } finally {
    ports.capacity.foundAbandoned({ waiting: left === "waiting", deaths });
  }
  if (left === "none") return;
  // Comes last: it can read large journals, for which runs that need capacity should not wait.
  let after: string | undefined = "";
  while (after !== undefined && !ports.capacity.isDraining)
    after = await endExhausted(ports, maxBatchRuns, after);
}

/**
 * Takes over the runs of dead processes.
 * @returns `none` if there were no runs of dead processes, `waiting` if runs may be left that wait
 *   for capacity of this process.
 */
async function takeOver(ports: ClaimPorts): Promise<"none" | "some" | "waiting"> {
  if (!(await countSuspects(ports.database))) return "none";
  while ((await claimUpTo(ports, maxBatchRuns, claimCancelled, { onlyToEnd: true })) === "some");
  let outcome: ClaimOutcome;
  do outcome = await claimUpTo(ports, maxBatchRuns, claimAbandoned);
  while (outcome === "some");
  const outcomes = [outcome, await takeLastAttempts(ports)];
  const mayWait = outcomes.includes("full") || outcomes.includes("some");
  return ports.capacity.isOpen && mayWait ? "waiting" : "some";
}

/**
 * Takes over runs for their last attempt. Does nothing while the database has not replied to an
 * earlier claim for last attempts.
 */
async function takeLastAttempts(ports: ClaimPorts): Promise<ClaimOutcome | undefined> {
  if ([...ports.unconfirmedClaims].some((claim) => claim.lastAttempt !== undefined))
    return undefined;
  const executing = [...ports.live.values()].flatMap(({ lastAttempt }) => lastAttempt ?? []);
  const send: SendClaim = (database, request) => claimLastAttempts(database, request, executing);
  // If the reply is lost, it is unknown which kind of last attempt the claim was for. `repeated` is
  // the safe assumption, since other runs on their last attempt are then not executed at the same
  // time.
  return claimUpTo(ports, maxTogether, send, { lastAttempt: "repeated" });
}

/**
 * Executes the runs of claims that were committed although their reply was lost. No other process
 * would execute them, since this process owns them and is alive. A claim is searched for at each
 * call until it can no longer be committed.
 */
export async function executeLostClaims(
  ports: ClaimExecution & Pick<ClaimPorts, "database" | "process" | "unconfirmedClaims">,
): Promise<void> {
  const claims = [...ports.unconfirmedClaims];
  if (claims.length === 0) return;
  const over = claims.filter(({ until }) => ports.process.areCommitsVisible(until));
  const found = new Map<UnconfirmedClaim, ClaimedRun[]>();
  for (const { eventId, run } of await findClaimed(ports.database, claims)) {
    const claim = claims.find(({ eventIds }) => eventIds.includes(eventId));
    // An earlier call may have executed the run already. Searches find the run until its next event
    // is committed.
    if (claim === undefined || claim.executed.has(run.runId)) continue;
    claim.executed.add(run.runId);
    // A claim for last attempts commits all its runs with a single statement, so if one of them was
    // found, all were found, and the claim need not be searched for again.
    if (claim.lastAttempt !== undefined) over.push(claim);
    found.set(claim, [...(found.get(claim) ?? []), run]);
  }
  for (const [claim, runs] of found) executeClaimed(ports, runs, claim);
  for (const claim of over) ports.unconfirmedClaims.delete(claim);
}

/**
 * The outcome of a claim up to the free capacity.
 * - `all`: no runs are left, except those of workspaces whose runs wait here, for memory or, unless
 *   the claim takes them, for a limit, and of workspaces that have no more of their share left.
 * - `some`: there may be more runs.
 * - `contended`: the claim skipped what another process had locked; a repeated one can find more.
 * - `full`: nothing was claimed: this process has no free capacity, accepts no runs, or has too
 *   many unconfirmed claims.
 */
type ClaimOutcome = "all" | "some" | "contended" | "full";

/**
 * Claims runs up to the free capacity, and starts to execute them.
 * @param options
 * - `except`: workspaces and agents whose runs are not claimed, besides the workspaces whose runs
 *   wait for memory here.
 * - `onlyToEnd`: the runs are claimed only to be ended. This takes little time and memory, so they
 *   are claimed even without free capacity, as long as this process accepts runs.
 * - `lastAttempt`: the kind of last attempt to assume if the reply to the claim is lost. Undefined
 *   if the claimed runs are not on their last attempt.
 * - `maxOf`, `maxOfOne`: see `ClaimRequest`. Runs of dead processes are taken over regardless of
 *   them.
 */
async function claimUpTo(
  ports: ClaimPorts,
  maxRuns: number,
  send: SendClaim,
  {
    except = [],
    onlyToEnd = false,
    ...options
  }: {
    except?: readonly string[];
    onlyToEnd?: boolean;
    lastAttempt?: LastAttempt;
  } & Pick<ClaimRequest, "maxOf" | "maxOfOne"> = {},
): Promise<ClaimOutcome> {
  const { capacity } = ports;
  const limit = onlyToEnd && capacity.isOpen ? maxRuns : Math.min(maxRuns, capacity.free);
  if (limit === 0 || ports.unconfirmedClaims.size >= maxUnconfirmed) return "full";
  const request = {
    owner: ports.process.id,
    eventIds: Array.from({ length: limit }, () => newId("evt")),
    except: [...ports.memory.runs.waitingOwners, ...except],
    ...options,
  };
  capacity.reserve(limit);
  let result: ClaimResult = { runs: [], contended: false };
  try {
    result = await send(ports.database, request);
  } catch (thrown) {
    ports.unconfirmedClaims.add({
      ...request,
      executed: new Set(),
      until: elapsed() + unconfirmedMs,
    });
    throw thrown;
  } finally {
    capacity.release(limit);
  }
  if (result.runs.length > 0) executeClaimed(ports, result.runs, request);
  if (result.runs.length === limit) return "some";
  return result.contended ? "contended" : "all";
}

/** What is needed to execute a claimed run. */
type ClaimExecution = Pick<
  ClaimPorts,
  | "capacity"
  | "unconfirmedStarts"
  | "reservations"
  | "execute"
  | "worker"
  | "eventPoller"
  | "reports"
>;

/** Starts to execute the runs of a claim, whose events are committed, and reserves capacity. */
function executeClaimed(
  ports: ClaimExecution,
  runs: readonly ClaimedRun[],
  request: Pick<UnconfirmedClaim, "owner" | "lastAttempt">,
): void {
  ports.eventPoller.noteWritten();
  for (const run of runs) execute(ports, run, request);
  const resumed = runs.filter((run) => run.resumed).length;
  if (resumed > 0) ports.reports.resumed(resumed);
}

/**
 * Starts to execute a claimed run. If the caller that started the run has got a `503` response in
 * the meantime, and cannot repeat the request safely, the run is only ended.
 */
function execute(
  ports: ClaimExecution,
  run: ClaimedRun,
  request: Pick<UnconfirmedClaim, "owner" | "lastAttempt">,
): void {
  const start = ports.unconfirmedStarts.get(run.runId);
  if (start !== undefined) start.claimed = run;
  if (run.isLimited) ports.reservations.noteClaimed(run);
  ports.capacity.reserve(1, run.workspaceId);
  const cancelRequested = run.cancelRequested || start?.isRejected === true;
  const lastAttempt = run.lastAttempt ?? request.lastAttempt;
  const executed = ports.execute({
    ...run,
    owner: request.owner,
    lastAttempt,
    cancelRequested,
    isClaimed: true,
  });
  if (lastAttempt !== undefined) void executed.then(() => ports.worker.takeOver());
}
