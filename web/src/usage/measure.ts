import type { UsageReport } from "@beckon/client";
import { formatCount, formatMoney, formatShortCount } from "../format/index.ts";

/** The sums of usage in a row, or of a whole report. */
export type Amounts = UsageReport["totals"];

/** The quantity that the chart and the tables of usage show. */
export type Measure = "cost" | "tokens" | "calls";

interface MeasureWords {
  readonly label: string;
  readonly amountOf: (amounts: Amounts) => number;
  /** Formats a value for the axis, where there is little space. */
  readonly short: (value: number) => string;
  readonly format: (value: number) => string;
}

export const measures: Readonly<Record<Measure, MeasureWords>> = {
  cost: {
    label: "Cost",
    amountOf: ({ cost_micros }) => cost_micros ?? 0,
    short: formatMoney,
    format: formatMoney,
  },
  tokens: {
    label: "Tokens",
    amountOf: ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
    short: formatShortCount,
    format: (value) => `${formatCount(value)} tokens`,
  },
  calls: {
    label: "Calls",
    amountOf: ({ entries }) => entries,
    short: formatShortCount,
    format: (value) => (value === 1 ? "1 call" : `${formatCount(value)} calls`),
  },
};

/**
 * Returns the value of a measure in words. If only a part of the cost is known, returns "at least"
 * and this part. An unknown cost is never shown as $0.
 */
export function wordsOf(amounts: Amounts, measure: Measure): string {
  const { amountOf, format } = measures[measure];
  if (measure !== "cost" || amounts.unknown_cost_entries === 0) return format(amountOf(amounts));
  if (amounts.cost_micros === null) return "unknown";
  return `at least ${formatMoney(amounts.cost_micros)}`;
}

/** Returns why a cost is unknown as a whole or in part; undefined if it is known. */
export function unknownReason({ entries, unknown_cost_entries: unknown, cost_micros }: Amounts) {
  if (unknown === 0) return undefined;
  if (unknown === entries)
    return entries === 1
      ? "No price is known for the model of this call."
      : "No price is known for the models of these calls.";
  const some = `${formatCount(unknown)} of ${formatCount(entries)} calls have no known price`;
  if (cost_micros === null) return `${some}, and the others cost nothing.`;
  return `${some}, so the cost is at least this much.`;
}
