import type { LimitMetric, LimitScope } from "@beckon/contract";

/** What a metered call, such as a model call, uses or can use at most. */
export interface Amounts {
  /** Cost in micro-dollars; null if no price is known. */
  readonly costMicros: number | null;
  /**
   * The cost that counts for a plan. It is computed with the price in the operator's file or the
   * price library, so that a workspace cannot change it by setting prices of its own. The
   * workspace's price is used only if neither has a price. Null if no price is known.
   */
  readonly planCostMicros: number | null;
  readonly tokens: number;
  readonly voiceMs: number;
  readonly browserMs: number;
}

/** The amounts of a call that was not sent: zero. */
export const noAmounts: Amounts = {
  costMicros: 0,
  planCostMicros: 0,
  tokens: 0,
  voiceMs: 0,
  browserMs: 0,
};

/**
 * A limit, and what was spent of it. Amounts are in the unit of `metric`: micro-dollars, tokens or
 * milliseconds.
 */
export interface Limit {
  readonly scope: LimitScope;
  readonly scopeId: string;
  readonly metric: LimitMetric;
  /** null: unlimited. */
  readonly allowed: number | null;
  readonly spent: number;
  /** End of the period in RFC 3339 format; null if the limit has no periods. */
  readonly resetsAt: string | null;
}

/** A limit with periods, which many runs share. */
export interface Budget extends Limit {
  readonly id: number;
  /**
   * Amount that runs hold for calls that they are about to make, or have made but not reported yet.
   */
  readonly reserved: number;
}

/**
 * Returns whether a limit restricts model calls: it has an amount, and counts their cost or tokens.
 */
export const limitsModelCalls = ({ allowed, metric }: Pick<Limit, "allowed" | "metric">): boolean =>
  allowed !== null && (metric === "cost" || metric === "tokens");

/** SQL condition on a budget `b`, the same as `limitsModelCalls`. */
export const limitsModelCallsSql = "(b.allowed is not null and b.metric in ('cost', 'tokens'))";

/** Returns the sum of two amounts. If only one of two costs is known, the sum is the known one. */
export function sumOf(one: Amounts, other: Amounts): Amounts {
  const sum = (a: number | null, b: number | null) =>
    a === null && b === null ? null : (a ?? 0) + (b ?? 0);
  return {
    costMicros: sum(one.costMicros, other.costMicros),
    planCostMicros: sum(one.planCostMicros, other.planCostMicros),
    tokens: one.tokens + other.tokens,
    voiceMs: one.voiceMs + other.voiceMs,
    browserMs: one.browserMs + other.browserMs,
  };
}

/**
 * Returns the amount that counts for a limit, in the unit of its metric; null if the limit is in
 * money and the cost is unknown.
 */
export function amountIn(
  { scope, metric }: Pick<Limit, "scope" | "metric">,
  amounts: Amounts,
): number | null {
  switch (metric) {
    case "cost":
      return scope === "plan" ? amounts.planCostMicros : amounts.costMicros;
    case "tokens":
      return amounts.tokens;
    case "voice":
      return amounts.voiceMs;
    case "browser":
      return amounts.browserMs;
  }
}

/**
 * Returns an SQL expression for the amount that counts for a budget. It chooses the same column as
 * `amountIn`, but an unknown cost counts as 0.
 * @param budget alias of a row with the columns scope_kind and metric.
 * @param amounts alias of a row with the columns cost_micros, voice_ms and browser_ms.
 * @param columns expressions for the number of tokens, and for the cost that counts for a plan.
 */
const amountSql = (
  budget: string,
  amounts: string,
  columns: { readonly tokens: string; readonly planCost: string },
) =>
  `coalesce(case ${budget}.metric
      when 'cost' then case when ${budget}.scope_kind = 'plan' then ${columns.planCost}
        else ${amounts}.cost_micros end
      when 'tokens' then ${columns.tokens}
      when 'voice' then ${amounts}.voice_ms
      else ${amounts}.browser_ms end, 0)`;

/**
 * Returns an SQL expression for the amount that an entry of the usage ledger adds to a budget.
 * @param budget alias of a row with the columns scope_kind and metric.
 * @param entry alias of the entry, or of a metered call with the same columns.
 */
export const entryAmountSql = (budget: string, entry: string) =>
  amountSql(budget, entry, {
    tokens: `${entry}.input_tokens + ${entry}.output_tokens`,
    planCost: `coalesce(${entry}.standard_cost_micros, ${entry}.cost_micros)`,
  });

/**
 * Returns an SQL expression for the amount that a reservation holds in a budget.
 * @param budget alias of a row with the columns scope_kind and metric.
 * @param held alias of the reservation, or of a request for one with the same columns.
 */
export const heldAmountSql = (budget: string, held: string) =>
  amountSql(budget, held, { tokens: `${held}.tokens`, planCost: `${held}.plan_cost_micros` });

/**
 * Returns an SQL expression for the highest of 50, 80 and 100 percent of `allowed` that `spent` has
 * reached; 0 if it has reached none, or if nothing is spent.
 */
export const crossedSql = (spent: string, allowed: string) =>
  `case when ${spent} = 0 then 0
      when ${spent} >= ${allowed} then 100
      when ${spent}::numeric * 100 >= ${allowed}::numeric * 80 then 80
      when ${spent}::numeric * 100 >= ${allowed}::numeric * 50 then 50
      else 0 end`;

/**
 * Returns SQL of a row with the columns starts and ends: the calendar period that determines the
 * current period of a budget if its stored period is over. It is a month for a plan and a day for
 * any other budget. A month that ends within 27 hours after the stored month is skipped, and the
 * following month is returned. Without this, a workspace could move its time zone west, which moves
 * midnight by up to 26 hours, and get the allowance of a whole month for these few hours.
 * @param scopeKind SQL expression for the scope of the budget.
 * @param budget alias of the budget's row, which can be null.
 * @param workspace alias of the workspace's row.
 */
export const calendarPeriodSql = (scopeKind: string, budget: string, workspace: string) =>
  `period_of(
      case when ${scopeKind} = 'plan' then greatest(now(), ${budget}.ends + interval '27 hours')
        else now() end,
      ${workspace}.time_zone, case when ${scopeKind} = 'plan' then 'month' else 'day' end,
      ${workspace}.plan_anchor)`;

/**
 * Returns an SQL expression for the start of the period that follows the stored period of a budget.
 * After a change of the workspace's time zone or of the day on which its plan's months begin, the
 * calendar period can begin before the stored period has ended, or in the future. The next period
 * then begins at the stored end, so that each entry of the ledger counts in exactly one period.
 * @param budget alias of the budget's row, which can be null.
 * @param period alias of the row that `calendarPeriodSql` returns.
 */
export const nextStartSql = (budget: string, period: string) =>
  `greatest(case when ${period}.starts <= now() then ${period}.starts end, ${budget}.ends)`;

/**
 * Returns SQL of two columns, starts and ends, of the current period of a budget. This is the
 * stored period or, if the stored period is over, the next one.
 * @param budget alias of the budget's row. If it is null, the current period is the calendar
 *   period.
 * @param period alias of the row that `calendarPeriodSql` returns.
 */
export const currentPeriodSql = (budget: string, period: string) =>
  `case when ${budget}.ends > now() then ${budget}.starts
      else ${nextStartSql(budget, period)} end as starts,
    case when ${budget}.ends > now() then ${budget}.ends else ${period}.ends end as ends`;

/**
 * SQL condition that nothing is left of a budget `b`. It does not check whether the budget's period
 * has ended. It is false for a limit of 0 of which nothing is spent, because models that are free
 * can still be called. It is also false for a budget whose limit begins only with its next period:
 * until then, `allowed` is null.
 */
export const isSpentSql = "(b.allowed is not null and b.spent >= greatest(b.allowed, 1))";

/**
 * SQL condition that runs are held because of a budget `b`: nothing is left of it, or a model call
 * was rejected because too little is left. It does not check whether the budget's period has ended.
 * A rejection at a limit of 0 does not count, because models that are free can still be called.
 */
export const holdsRunsSql = `(b.refused and b.allowed > 0 or ${isSpentSql})`;

/**
 * SQL condition that a budget `b` now pauses the agent that it limits: `pauses_agent` is set, and
 * nothing is left of it or a model call was rejected because too little is left. It becomes false
 * when the budget's period ends.
 */
export const pausesAgentSql = `(b.scope_kind = 'agent' and b.pauses_agent and now() < b.ends
      and (b.refused or ${isSpentSql}))`;

/**
 * SQL expression for whether a limit is reached in its current period, as `reached` of the API: its
 * budget `b`, which can be null, is spent, or a model call was rejected because too little is left.
 */
export const reachedSql = `coalesce(b.ends > now() and (b.refused or ${isSpentSql}), false)`;
