import { type Amounts, amountIn, type Budget, type Limit, sumOf } from "./budget.ts";
import { type CallBound, fitInto } from "./fit.ts";

/** A run that asks to reserve what its next model call can use. */
export interface ReservationRequest {
  readonly runId: string;
  /** Ids of the budgets that apply to the run. */
  readonly budgetIds: readonly number[];
  readonly call: CallBound;
  /** The limit of the run itself; undefined if it has none. */
  readonly runLimit?: Limit | undefined;
  /** What the run holds already; undefined if it holds nothing. */
  readonly held?: { readonly amounts: Amounts; readonly in: readonly number[] } | undefined;
  /** When the run began to wait, as microseconds since 1970; undefined if it does not wait. */
  readonly askedAt?: number | undefined;
}

/** A run that waits, and does not ask now. */
export interface WaitingRun {
  readonly runId: string;
  readonly askedAt: number;
  readonly budgetIds: readonly number[];
  /** What it asked for in addition to what it holds. */
  readonly asked: Amounts;
  /** The budgets in which that did not fit when it asked. */
  readonly blockedAt: readonly number[];
  readonly held: { readonly amounts: Amounts; readonly in: readonly number[] };
}

export type Decision =
  | {
      readonly kind: "granted";
      readonly outputTokens: number;
      readonly loweredBy: Limit | undefined;
      /** What the run now holds in all budgets that apply to it. */
      readonly amounts: Amounts;
    }
  | {
      readonly kind: "waits";
      readonly asked: Amounts;
      readonly blockedAt: readonly number[];
    }
  | { readonly kind: "spent"; readonly limit: Limit }
  | { readonly kind: "price_unknown" };

export interface Decided {
  /** In the order of the requests. */
  readonly decisions: readonly Decision[];
  /** What is reserved in each budget afterwards, by the budget's id. */
  readonly reserved: ReadonlyMap<number, number>;
}

interface State {
  readonly budget: Budget;
  reserved: number;
  /** What runs that wait hold for earlier attempts: it will be spent, not returned. */
  kept: number;
  /** What earlier runs that wait can reserve as soon as they ask. */
  ahead: number;
  /** Whether an earlier run waits for this budget. Then all later ones wait behind it. */
  isBlocked: boolean;
}

/**
 * Decides which requests can reserve what they ask for. The rules:
 * - A call gets at most as many output tokens as fit what is not spent in any of its budgets. If
 *   that is too little for a useful call, the request is rejected.
 * - If that does not fit what is neither spent nor reserved, the run waits until something is
 *   returned.
 * - First come, first served, by the time of the first request: while a run waits for a budget, no
 *   later one reserves in that budget. A run that waits for another budget does not hold back runs
 *   that need only this one. So a run that waits for a ceiling of its agent delays no other agents.
 *
 * @param budgets all budgets that apply to the requests, locked and in their present period.
 * @param waiting other runs that wait and whose processes are alive.
 * @param requests in the order in which they arrived, at most one for each run.
 */
export function decide(
  budgets: readonly Budget[],
  waiting: readonly WaitingRun[],
  requests: readonly ReservationRequest[],
): Decided {
  const states = new Map<number, State>(
    budgets.map((budget) => [
      budget.id,
      { budget, reserved: budget.reserved, kept: 0, ahead: 0, isBlocked: false },
    ]),
  );
  for (const { held } of waiting)
    eachOf(states, held.in, held.amounts, (state, amount) => {
      state.kept += amount;
    });
  // A request replaces what its run holds. It keeps what earlier attempts used, even if it waits.
  for (const { held, budgetIds, call } of requests) {
    if (held !== undefined)
      eachOf(states, held.in, held.amounts, (state, amount) => {
        state.reserved -= amount;
      });
    eachOf(states, budgetIds, call.used, (state, amount) => {
      state.reserved += amount;
      state.kept += amount;
    });
  }
  const decisions = new Array<Decision>(requests.length);
  for (const turn of turnsOf(waiting, requests)) {
    if (turn.kind === "waiting") keepTurn(states, turn.run);
    else decisions[turn.index] = decideOne(states, turn.request);
  }
  return {
    decisions,
    reserved: new Map([...states].map(([id, { reserved }]) => [id, reserved])),
  };
}

type Turn =
  | { readonly kind: "waiting"; readonly run: WaitingRun }
  | { readonly kind: "request"; readonly request: ReservationRequest; readonly index: number };

/** Returns all runs in the order in which they first asked. New requests are last. */
function turnsOf(
  waiting: readonly WaitingRun[],
  requests: readonly ReservationRequest[],
): readonly Turn[] {
  const turns = [
    ...waiting.map((run) => ({
      turn: { kind: "waiting" as const, run },
      askedAt: run.askedAt,
      runId: run.runId,
    })),
    ...requests.map((request, index) => ({
      turn: { kind: "request" as const, request, index },
      askedAt: request.askedAt ?? Number.POSITIVE_INFINITY,
      runId: request.askedAt === undefined ? "" : request.runId,
    })),
  ];
  // The sort is stable, so new requests stay in the order in which they arrived. Runs that began to
  // wait in one transaction have the same time.
  return turns
    .sort((a, b) =>
      a.askedAt === b.askedAt ? compare(a.runId, b.runId) : a.askedAt < b.askedAt ? -1 : 1,
    )
    .map(({ turn }) => turn);
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function decideOne(states: Map<number, State>, request: ReservationRequest): Decision {
  const { call, runLimit, budgetIds } = request;
  const own = budgetIds.flatMap((id) => states.get(id) ?? []);
  const limits = own.map((state) => withKept(state, call.used));
  const fit = fitInto(runLimit === undefined ? limits : [runLimit, ...limits], call);
  if (fit.kind !== "fits") return fit.kind === "spent" ? spent(own, fit.limit) : fit;
  const { outputTokens, loweredBy } = fit;
  const asked = call.amountsOf(outputTokens);
  const blocked = blockedAt(own, asked);
  if (blocked.length > 0)
    return { kind: "waits", asked, blockedAt: blocked.map(({ budget }) => budget.id) };
  for (const state of own) {
    state.reserved += amountIn(state.budget, asked) ?? 0;
    state.kept -= amountIn(state.budget, call.used) ?? 0;
  }
  return {
    kind: "granted",
    outputTokens,
    loweredBy: loweredBy === runLimit ? runLimit : original(own, loweredBy),
    amounts: sumOf(call.used, asked),
  };
}

/** Lets a run that waits and does not ask now keep its turn. */
function keepTurn(states: Map<number, State>, run: WaitingRun): void {
  // It also waits for a budget that this call does not know, so it cannot continue anyway.
  if (run.blockedAt.some((id) => !states.has(id))) return;
  const own = run.budgetIds.flatMap((id) => states.get(id) ?? []);
  if (blockedAt(own, run.asked).length > 0) return;
  for (const state of own) state.ahead += neededOf(state, run.asked);
}

/**
 * Returns the budgets in which a run must wait. Later runs wait behind it in those that are too
 * small for it.
 */
function blockedAt(own: readonly State[], asked: Amounts): readonly State[] {
  const needed = own.filter((state) => neededOf(state, asked) > 0);
  const tooSmall = needed.filter((state) => !hasFree(state, asked));
  const blocked = needed.filter((state) => state.isBlocked || tooSmall.includes(state));
  for (const state of tooSmall) state.isBlocked = true;
  return blocked;
}

/** Returns the limit with what other runs keep counted as spent. */
function withKept({ budget, kept }: State, used: Amounts): Limit {
  return { ...budget, spent: budget.spent + kept - (amountIn(budget, used) ?? 0) };
}

/** Returns the rejection, with what is really spent of the limit. */
function spent(own: readonly State[], limit: Limit): Decision {
  return { kind: "spent", limit: original(own, limit) ?? limit };
}

function original(own: readonly State[], limit: Limit | undefined): Limit | undefined {
  if (limit === undefined) return undefined;
  const { scope, scopeId, metric } = limit;
  const state = own.find(
    ({ budget }) =>
      budget.scope === scope && budget.scopeId === scopeId && budget.metric === metric,
  );
  return state?.budget ?? limit;
}

function hasFree(state: State, asked: Amounts): boolean {
  const { budget, reserved, ahead } = state;
  if (budget.allowed === null) return true;
  return neededOf(state, asked) <= budget.allowed - budget.spent - reserved - ahead;
}

/** A run asks again for no more than what is not spent, so it needs at most that. */
function neededOf({ budget }: State, asked: Amounts): number {
  const amount = amountIn(budget, asked) ?? 0;
  return budget.allowed === null
    ? amount
    : Math.min(amount, Math.max(0, budget.allowed - budget.spent));
}

function eachOf(
  states: Map<number, State>,
  ids: readonly number[],
  amounts: Amounts,
  act: (state: State, amount: number) => void,
): void {
  for (const id of ids) {
    const state = states.get(id);
    if (state !== undefined) act(state, amountIn(state.budget, amounts) ?? 0);
  }
}
