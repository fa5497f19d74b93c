import type { UsageReport } from "@beckon/client";
import type { ChartTone } from "../charts/index.ts";
import { type Amounts, type Measure, measures } from "./measure.ts";
import type { Grouping } from "./queries.ts";

export type UsageRow = UsageReport["rows"][number];

/** Maximum number of groups with a colour of their own. */
const maxSeries = 5;
const tones = [1, 2, 3, 4, 5] as const satisfies readonly ChartTone[];

/** A group as the table and the chart show it. */
export interface UsageGroup {
  /** The value of the API's filter that selects the group. */
  readonly key: string;
  /** The name; null if the group has none, or if the person has no permission to read it. */
  readonly name: string | null;
  readonly amounts: Amounts;
  readonly tone: ChartTone;
}

/** Returns the groups of a report, the largest first. The largest have a colour of their own. */
export function groupsOf(
  rows: readonly UsageRow[],
  grouping: Grouping,
  measure: Measure,
): readonly UsageGroup[] {
  const { amountOf } = measures[measure];
  return rows
    .map((row) => ({ ...identityOf(row, grouping), amounts: row }))
    .toSorted(
      (one, other) =>
        amountOf(other.amounts) - amountOf(one.amounts) ||
        other.amounts.entries - one.amounts.entries,
    )
    .map((group, index) => ({ ...group, tone: tones[index] ?? "rest" }));
}

/** Returns the groups with a colour of their own: the first ones of the sorted `groups`. */
export function largest(groups: readonly UsageGroup[]): readonly UsageGroup[] {
  return groups.slice(0, maxSeries);
}

function identityOf(row: UsageRow, grouping: Grouping): Pick<UsageGroup, "key" | "name"> {
  switch (grouping) {
    case "agent":
      return { key: row.agent_id ?? "", name: row.agent_name ?? null };
    case "model":
      return { key: row.model ?? "", name: row.model ?? null };
    case "caller":
      return { key: row.caller ?? "", name: row.caller_name ?? null };
  }
}

/** The usage of one day. */
export interface UsageDay {
  readonly day: string;
  readonly amounts: Amounts;
  /** One value for each of the largest groups, then the sum of all others. */
  readonly values: readonly number[];
}

const nothing: Amounts = {
  entries: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  voice_ms: 0,
  browser_ms: 0,
  cost_micros: 0,
  unknown_cost_entries: 0,
  estimated_entries: 0,
};

/**
 * Returns the usage of each day, divided into the largest groups and the rest. `all` can be older
 * than `parts`, so the sum of the groups can exceed the value of the day. The rest is then 0.
 * @param days the dates to show, including those without usage
 * @param all usage by day
 * @param parts usage by day of each of the largest groups
 */
export function stackDays(
  days: readonly string[],
  all: readonly UsageRow[],
  parts: readonly (readonly UsageRow[])[],
  measure: Measure,
): readonly UsageDay[] {
  const { amountOf } = measures[measure];
  const byDay = (rows: readonly UsageRow[]) => new Map(rows.map((row) => [row.day, row]));
  const total = byDay(all);
  const series = parts.map(byDay);
  return days.map((day) => {
    const amounts = total.get(day) ?? nothing;
    const values = series.map((rows) => amountOf(rows.get(day) ?? nothing));
    const known = values.reduce((sum, value) => sum + value, 0);
    return { day, amounts, values: [...values, Math.max(0, amountOf(amounts) - known)] };
  });
}
