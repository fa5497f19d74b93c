import type { LimitMetric, LimitScope } from "@beckon/contract";

/** What a call uses, or can use at most. */
export interface Amounts {
  /** Cost in micro-dollars; null if no price is known. */
  readonly costMicros: number | null;
  /**
   * Cost as it counts for a plan: by the price library or the operator's file if they know a price,
   * so that a workspace cannot change its allowance by setting prices. Null if no price is known.
   */
  readonly planCostMicros: number | null;
  readonly tokens: number;
  readonly voiceMs: number;
  readonly browserMs: number;
}

/** What a call uses that was not sent. */
export const noAmounts: Amounts = {
  costMicros: 0,
  planCostMicros: 0,
  tokens: 0,
  voiceMs: 0,
  browserMs: 0,
};

/** A limit, and what was spent of it. Amounts are in the unit of the metric. */
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
  /** What runs hold for their calls. */
  readonly reserved: number;
}

/** Returns the sum of two amounts. A cost that is not known counts as 0 if the other is known. */
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

/** Returns the amount that counts for a limit; null if it is a cost that is not known. */
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
 * Returns an SQL expression for the amount that counts for a budget, 0 if it is a cost that is not
 * known. It is the counterpart of `amountIn`.
 * @param budget alias of a row with the columns scope_kind and metric.
 * @param amounts alias of a row with the columns cost_micros, voice_ms and browser_ms.
 * @param columns expressions for the number of tokens and the cost that counts for a plan.
 */
export const amountSql = (
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

/** SQL of what an entry of the usage ledger, or a call with its columns, counts for a budget. */
export const entryAmountSql = (budget: string, entry: string) =>
  amountSql(budget, entry, {
    tokens: `${entry}.input_tokens + ${entry}.output_tokens`,
    planCost: `coalesce(${entry}.standard_cost_micros, ${entry}.cost_micros)`,
  });

/** SQL of the highest of 50, 80 and 100 percent that is reached; 0 if none is. */
export const crossedSql = (spent: string, allowed: string) =>
  `case when ${spent} >= ${allowed} then 100
      when ${spent}::numeric * 100 >= ${allowed}::numeric * 80 then 80
      when ${spent}::numeric * 100 >= ${allowed}::numeric * 50 then 50
      else 0 end`;
