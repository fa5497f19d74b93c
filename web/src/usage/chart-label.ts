import { type Amounts, type Measure, measures, wordsOf } from "./measure.ts";
import type { UsageDay } from "./series.ts";

/**
 * Returns what screen readers read for the chart of usage by day: the sum, and the highest bar if
 * there is one.
 * @param nameOf returns the name of a date
 */
export function chartLabel(
  days: readonly UsageDay[],
  totals: Amounts,
  measure: Measure,
  nameOf: (day: string) => string,
): string {
  const { label, amountOf } = measures[measure];
  const highest = days.reduce<UsageDay | undefined>(
    (best, day) => (amountOf(day.amounts) > (best ? amountOf(best.amounts) : 0) ? day : best),
    undefined,
  );
  const most =
    highest === undefined
      ? ""
      : `, the most on ${nameOf(highest.day)}: ${wordsOf(highest.amounts, measure)}`;
  return `${label} by day: ${wordsOf(totals, measure)} in all${most}.`;
}
