import {
  type Amounts,
  amountIn,
  type Budget,
  type Limit,
  limitsModelCalls,
  sumOf,
} from "./budget.ts";
import { type CallBound, type Fit, fitInto } from "./fit.ts";

/** A run that requests a reservation for its next model call. */
export interface ReservationRequest {
  readonly runId: string;
  /** Ids of the budgets that apply to the run. */
  readonly budgetIds: readonly number[];
  readonly call: CallBound;
  /** The limit of the run itself; undefined if it has none. */
  readonly runLimit?: Limit | undefined;
  /** What the run holds already; undefined if it holds nothing. */
  readonly held?: { readonly amounts: Amounts; readonly in: readonly number[] } | undefined;
  /**
   * When the run's stored reservation was first requested, in microseconds since 1970; undefined if
   * none is stored for the run.
   */
  readonly askedAt?: number | undefined;
}

/** A run that waits, and is not among the current requests. */
export interface WaitingRun {
  readonly runId: string;
  readonly askedAt: number;
  readonly budgetIds: readonly number[];
  /** What the run asked for, in addition to what it holds. */
  readonly asked: Amounts;
  /** The budgets in which `asked` did not fit when the run asked last. */
  readonly blockedAt: readonly number[];
  readonly held: { readonly amounts: Amounts; readonly in: readonly number[] };
}

type Spent = Extract<Fit, { readonly kind: "spent" }>;

export type Decision =
  | {
      readonly kind: "granted";
      readonly outputTokens: number;
      readonly loweredBy: Limit | undefined;
      /**
       * Whether the call uses any budget that restricts model calls (`limitsModelCalls`). A call
       * that costs nothing uses no budget in money.
       */
      readonly isRestricted: boolean;
      /** What the run now holds in each budget that applies to it. */
      readonly amounts: Amounts;
    }
  | {
      readonly kind: "waits";
      readonly asked: Amounts;
      readonly blockedAt: readonly number[];
      /** The budgets `blockedAt`. */
      readonly limits: readonly [Limit, ...Limit[]];
    }
  | Spent
  | { readonly kind: "price_unknown" };

export interface Decided {
  /** One decision for each request, in the order of the requests. */
  readonly decisions: readonly Decision[];
  /** What is reserved in each budget afterwards, by the budget's id. */
  readonly reserved: ReadonlyMap<number, number>;
}

interface State {
  readonly budget: Budget;
  reserved: number;
  /**
   * The part of `reserved` that failed attempts of model calls have already used, while the next
   * attempt has not reserved yet. It will be added to `spent` and not returned, so it counts as
   * spent.
   */
  kept: number;
  /**
   * Amount that is kept free for waiting runs earlier in the queue. These runs make no request now,
   * but can reserve the amount when they ask again.
   */
  ahead: number;
  /** Whether a run earlier in the queue waits for this budget. Later runs then wait too. */
  isBlocked: boolean;
}

/**
 * Decides which requests can reserve what they ask for. The rules:
 * - A call gets at most as many output tokens as fit into the unspent part of each of its budgets.
 *   What other runs reserve for calls in progress counts as unspent here. If the tokens are too few
 *   for a useful call, the request is rejected.
 * - If the call fits into the unspent part, but not beside what other runs reserve, it is not made
 *   smaller: the run waits until enough of these amounts is returned.
 * - First come, first served, by the time of a run's first request: while the call of a run does
 *   not fit into a budget, no later run reserves in this budget. If it fits by now, and the run has
 *   not asked again yet, later runs can reserve only what it leaves.
 * - A waiting run delays only runs that need the budget in which its call does not fit. For
 *   example, a run that waits for a ceiling of its agent delays no runs of other agents.
 *
 * @param budgets all budgets that apply to the requests, locked and in their current period.
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
  // A request replaces what its run holds. What earlier attempts of the call used stays reserved,
  // even if the run waits.
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

/**
 * Returns all runs in the order in which they first asked. Runs that ask for the first time come
 * last.
 */
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
  // Runs with the same `askedAt` are ordered by id. All new requests have the time infinity and an
  // empty id, so the stable sort keeps them in the order in which they arrived.
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
  if (fit.kind !== "fits") return fit.kind === "spent" ? spent(own, fit) : fit;
  const { outputTokens, loweredBy } = fit;
  const asked = call.amountsOf(outputTokens);
  const blocked = blockedAt(own, asked).map(({ budget }) => budget);
  const [first, ...others] = blocked;
  if (first !== undefined) {
    const limits = [first, ...others] as const;
    return { kind: "waits", asked, blockedAt: limits.map(({ id }) => id), limits };
  }
  for (const state of own) {
    state.reserved += amountIn(state.budget, asked) ?? 0;
    state.kept -= amountIn(state.budget, call.used) ?? 0;
  }
  return {
    kind: "granted",
    outputTokens,
    loweredBy: loweredBy === runLimit ? runLimit : original(own, loweredBy),
    isRestricted: own.some(
      ({ budget }) => limitsModelCalls(budget) && (amountIn(budget, asked) ?? 0) > 0,
    ),
    amounts: sumOf(call.used, asked),
  };
}

/**
 * Keeps the position of a waiting run that makes no request now: later runs cannot reserve what it
 * needs.
 */
function keepTurn(states: Map<number, State>, run: WaitingRun): void {
  // `states` contains only budgets that the current requests need. A run that is also blocked by
  // another budget could not reserve anything now, so later runs need not wait for it.
  if (run.blockedAt.some((id) => !states.has(id))) return;
  const own = run.budgetIds.flatMap((id) => states.get(id) ?? []);
  if (blockedAt(own, run.asked).length > 0) return;
  for (const state of own) state.ahead += neededOf(state, run.asked);
}

/**
 * Returns the budgets for which a run must wait; none if it can reserve. Marks the budgets in which
 * the run's call does not fit, so that later runs wait for them too.
 */
function blockedAt(own: readonly State[], asked: Amounts): readonly State[] {
  const needed = own.filter((state) => neededOf(state, asked) > 0);
  const tooSmall = needed.filter((state) => !hasFree(state, asked));
  const blocked = needed.filter((state) => state.isBlocked || tooSmall.includes(state));
  for (const state of tooSmall) state.isBlocked = true;
  return blocked;
}

/**
 * Returns the limit as it applies to one run. What failed attempts of other runs' model calls have
 * used counts as spent, while their next attempt has not reserved yet: see `State.kept`. `kept`
 * also contains `used`, the same of this run's own call. It is subtracted here, because `fitInto`
 * subtracts it from the limit too.
 */
function withKept({ budget, kept }: State, used: Amounts): Limit {
  return { ...budget, spent: budget.spent + kept - (amountIn(budget, used) ?? 0) };
}

/**
 * Returns the rejection `fit` with the original budget as its limit. The limit that `fitInto` got
 * is from `withKept`, which counts amounts that other runs hold as spent.
 */
function spent(own: readonly State[], fit: Spent): Decision {
  return { ...fit, limit: original(own, fit.limit) ?? fit.limit };
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

/**
 * Returns how much of the budget a run needs: what it asks for, but at most the unspent part of the
 * budget, because a waiting run asks again for no more than that.
 */
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
