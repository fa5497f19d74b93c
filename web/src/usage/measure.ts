import type { UsageReport } from "@beckon/client";
import { formatCount, formatMoney, formatShortCount } from "../format/index.ts";

/** Sums of usage, of a row or of a whole report. */
export type Amounts = UsageReport["totals"];

/** What bars show. */
export type Measure = "cost" | "tokens" | "calls";

interface MeasureWords {
  readonly label: string;
  readonly amountOf: (amounts: Amounts) => number;
  /** Writes a value of the axis, where there is little space. */
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
 * Returns the value of a measure in words. A cost of which a part is not known is "at least" the
 * known part, and never $0.
 */
export function wordsOf(amounts: Amounts, measure: Measure): string {
  const { label, amountOf, format } = measures[measure];
  if (measure !== "cost" || amounts.unknown_cost_entries === 0) return format(amountOf(amounts));
  if (amounts.cost_micros === null) return `${label} unknown`;
  return `at least ${formatMoney(amounts.cost_micros)}`;
}

/** Returns why a cost is not known, or not all of it; undefined if all of it is known. */
export function unknownReason({ entries, unknown_cost_entries: unknown }: Amounts) {
  if (unknown === 0) return undefined;
  if (unknown === entries)
    return entries === 1
      ? "No price is known for the model of this call."
      : "No price is known for the models of these calls.";
  return `${formatCount(unknown)} of ${formatCount(entries)} calls have no known price, so the cost is at least this much.`;
}
