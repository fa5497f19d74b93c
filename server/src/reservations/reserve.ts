import { type Database, isUniqueViolation } from "../base/database/index.ts";
import { type Amounts, type Limit, noAmounts } from "./budget.ts";
import { type Decision, decide, type ReservationRequest } from "./decide.ts";
import { type CallBound, type Fit, fitInto } from "./fit.ts";
import { reserveAtOnce } from "./reserve-at-once-statement.ts";
import {
  type Locked,
  type LockedBudget,
  type ReserveInput,
  type RunClaim,
  reserveInTransaction,
  type StoredReservation,
} from "./reserve-statement.ts";
import type { ReachedStatement } from "./thresholds.ts";

/** A run that requests a reservation for its next model call. */
export interface AskingRun extends RunClaim {
  readonly workspaceId: string;
  readonly call: CallBound;
  /** The limit of the run itself; undefined if it has none. */
  readonly runLimit?: Limit | undefined;
}

type Granted = Extract<Decision, { readonly kind: "granted" }>;
type Fits = Extract<Fit, { readonly kind: "fits" }>;

/**
 * The result for one run. The kind `unlimited` means that no limit applies to the run. `fits` means
 * that only the run's own limit applies. `fenced` means that the claim is no longer valid, because
 * another process owns the run. In these cases nothing is reserved. `isLimited` is whether the
 * run's workspace has any limit.
 */
export type ReserveResult =
  | ((Decision | Fits | { readonly kind: "unlimited" }) & { readonly isLimited: boolean })
  | { readonly kind: "fenced" };

/**
 * Reserves for all runs. Can be called again if the reply of the database is lost, because a
 * reservation replaces what the run holds, and does not add to it.
 * @param runs in the order in which they asked, each claim at most once.
 * @returns the results in the same order.
 */
export async function reserveForRuns(
  database: Database,
  reached: ReachedStatement,
  runs: readonly AskingRun[],
): Promise<readonly ReserveResult[]> {
  return (await grantAll(database, runs)) ?? (await reserveInTurn(database, reached, runs));
}

/**
 * Grants all runs what they ask for, with the single statement of `reserveAtOnce`. If that is not
 * possible, reserves nothing and returns undefined.
 */
async function grantAll(
  database: Database,
  runs: readonly AskingRun[],
): Promise<readonly ReserveResult[] | undefined> {
  const asked: {
    readonly run: AskingRun;
    readonly fit: Fits;
    readonly granted: Omit<Granted, "isRestricted">;
  }[] = [];
  for (const run of runs) {
    const { call, runLimit } = run;
    const fit = fitInto(runLimit === undefined ? [] : [runLimit], call);
    if (fit.kind !== "fits" || usesAny(call.used)) return undefined;
    const { outputTokens, loweredBy } = fit;
    const amounts = call.amountsOf(outputTokens);
    asked.push({ run, fit, granted: { kind: "granted", outputTokens, loweredBy, amounts } });
  }
  const unrestricted = await reserveAtOnce(
    database,
    asked.map(({ run: { runId, owner, fence }, granted: { amounts } }) => ({
      runId,
      owner,
      fence,
      amounts,
    })),
  ).catch((thrown: unknown) => {
    // The same reservation was sent before over a connection that was lost, and has been written
    // since this statement began. `reserveInTurn` can replace it.
    if (isUniqueViolation(thrown)) return undefined;
    throw thrown;
  });
  if (unrestricted === undefined) return undefined;
  return asked.map(({ run, fit, granted }) => {
    const found = unrestricted.get(run.runId);
    if (found === undefined || found.isReserved)
      return { ...granted, isRestricted: found === undefined, isLimited: true };
    const { isLimited } = found;
    return run.runLimit === undefined ? { kind: "unlimited", isLimited } : { ...fit, isLimited };
  });
}

/** Decides in one transaction which run gets how much, and which runs wait. */
async function reserveInTurn(
  database: Database,
  reached: ReachedStatement,
  runs: readonly AskingRun[],
): Promise<readonly ReserveResult[]> {
  let results: readonly ReserveResult[] = [];
  await reserveInTransaction(database, reached, runs, (locked) => {
    const fences = new Map(locked.reservations.map(({ runId, fence }) => [runId, fence]));
    // A run's former and present owner can ask in the same batch, so the fences are compared.
    const isValid = ({ runId, fence }: AskingRun) => fences.get(runId) === fence;
    const asking = runs.filter(isValid);
    const { requests, decided } = decideFor(locked, asking);
    const limited = new Set(
      locked.reservations.flatMap((row) => (row.isLimited ? row.workspaceId : [])),
    );
    const decisions = decided.decisions.map((decision, index): ReserveResult => {
      const isLimited = limited.has(asking[index]?.workspaceId ?? "");
      const request = requests[index];
      if (request?.budgetIds.length !== 0) return { ...decision, isLimited };
      if (request.runLimit === undefined) return { kind: "unlimited", isLimited };
      return decision.kind === "granted"
        ? { ...decision, kind: "fits", isLimited }
        : { ...decision, isLimited };
    });
    const resultOf = new Map(decisions.map((result, index) => [asking[index], result]));
    results = runs.map((run) => resultOf.get(run) ?? { kind: "fenced" });
    return written(locked.budgets, requests, decided);
  });
  return results;
}

function decideFor({ budgets, reservations }: Locked, runs: readonly AskingRun[]) {
  const stored = new Map(reservations.map((row) => [row.runId, row]));
  const requests = runs.map(({ runId, call, runLimit }): ReservationRequest => {
    const row = stored.get(runId);
    return {
      runId,
      call,
      runLimit,
      budgetIds: row === undefined ? [] : budgetIdsOf(budgets, row),
      held: row?.held,
      askedAt: row?.askedAt,
    };
  });
  const waiting = reservations.flatMap((row) =>
    row.fence !== undefined ||
    row.asked === undefined ||
    row.held === undefined ||
    row.askedAt === undefined
      ? []
      : [
          {
            runId: row.runId,
            askedAt: row.askedAt,
            budgetIds: budgetIdsOf(budgets, row),
            asked: row.asked,
            blockedAt: row.blockedAt,
            held: row.held,
          },
        ],
  );
  return { requests, decided: decide(budgets, waiting, requests) };
}

function budgetIdsOf(
  budgets: readonly LockedBudget[],
  { workspaceId, scopeIds }: StoredReservation,
): number[] {
  return budgets.flatMap((budget) =>
    budget.workspaceId === workspaceId && scopeIds.has(budget.scopeId) ? budget.id : [],
  );
}

/** Returns what decisions change in the database; undefined if they change nothing. */
function written(
  budgets: readonly LockedBudget[],
  requests: readonly ReservationRequest[],
  { decisions, reserved }: ReturnType<typeof decide>,
): ReserveInput | undefined {
  const rejecting = new Set(
    decisions.flatMap((decision) =>
      decision.kind === "spent" && decision.isUsedUp ? keyOf(decision.limit) : [],
    ),
  );
  const waitedFor = new Set(
    decisions.flatMap((decision) => (decision.kind === "waits" ? decision.blockedAt : [])),
  );
  const changed = budgets.flatMap((budget) => {
    const change = {
      id: budget.id,
      reserved: reserved.get(budget.id) ?? budget.reserved,
      hasRejected: budget.hasRejected || rejecting.has(keyOf(budget)),
      hasWaiter: waitedFor.has(budget.id),
    };
    const isChanged =
      change.hasWaiter ||
      change.reserved !== budget.reserved ||
      change.hasRejected !== budget.hasRejected;
    return isChanged ? change : [];
  });
  const reached = budgets.flatMap((budget) =>
    !budget.hasRejected && rejecting.has(keyOf(budget)) ? budget.id : [],
  );
  const reservations = requests.flatMap((request, index) => {
    const decision = decisions[index];
    return decision === undefined ? [] : reservationOf(request, decision);
  });
  return changed.length + reservations.length === 0
    ? undefined
    : { budgets: changed, reached, reservations };
}

/**
 * Returns the row to write for a decision. Returns none for a run without budgets that holds
 * nothing, and for a rejected run that neither holds nor has used anything.
 */
function reservationOf(
  { runId, budgetIds, call, held }: ReservationRequest,
  decision: Decision,
): ReserveInput["reservations"] {
  if (decision.kind === "granted") {
    const { amounts } = decision;
    // A run without budgets still needs a row if it has one already. It may have waited for limits
    // that were deleted since, and the row must not say that it still waits.
    return budgetIds.length === 0 && held === undefined
      ? []
      : [{ runId, state: "held", amounts, heldIn: budgetIds, asked: undefined }];
  }
  // `decide` has counted what earlier attempts of the call used as reserved in the run's budgets.
  // The run's row must contain the same amount: the end of the run returns what the row contains.
  const isUsed = usesAny(call.used) && budgetIds.length > 0;
  const kept = {
    runId,
    amounts: isUsed ? call.used : noAmounts,
    heldIn: isUsed ? budgetIds : [],
  };
  if (decision.kind === "waits") {
    const { asked, blockedAt } = decision;
    return [{ ...kept, state: "waiting", asked: { amounts: asked, blockedAt } }];
  }
  return isUsed || held !== undefined ? [{ ...kept, state: "held", asked: undefined }] : [];
}

function usesAny(amounts: Amounts): boolean {
  return Object.values(amounts).some((amount) => amount !== null && amount !== 0);
}

const keyOf = ({ scope, scopeId, metric }: Limit) => `${scope} ${scopeId} ${metric}`;
