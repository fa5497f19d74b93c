import { useState } from "react";
import { BarChart, type ChartColumn, type ChartTone } from "../charts/index.ts";
import { formatDate } from "../format/index.ts";
import { chartLabel } from "./chart-label.ts";
import { groupText } from "./group-name.tsx";
import { type Amounts, type Measure, measures, wordsOf } from "./measure.ts";
import type { Grouping } from "./queries.ts";
import type { UsageDay, UsageGroup } from "./series.ts";

interface DayChartProps {
  readonly days: readonly UsageDay[];
  /** The groups with a colour of their own, in the same order as `values` of a day. */
  readonly groups: readonly UsageGroup[];
  readonly grouping: Grouping;
  readonly measure: Measure;
  readonly totals: Amounts;
  /**
   * Returns the path of the list of a day's runs; undefined if the person has no permission to read
   * runs, or if the list cannot be filtered like the usage.
   */
  readonly hrefOf: ((day: string) => string) | undefined;
}

/** A chart with one bar for each day. Each bar consists of the largest groups and the rest. */
export function DayChart(props: DayChartProps) {
  const { days, groups, grouping, measure, totals, hrefOf } = props;
  const [pointed, setPointed] = useState<string>();
  const { label, short, format } = measures[measure];
  const nameOf = (day: string) => formatDate(`${day}T12:00:00Z`, Date.now(), "UTC");
  const tones: readonly ChartTone[] = [...groups.map(({ tone }) => tone), "rest"];
  const sentence = ({ day, amounts, values }: UsageDay) => {
    const parts = groups.flatMap((group, index) => {
      const value = values[index] ?? 0;
      return value === 0 ? [] : [`${groupText(group, grouping)} ${format(value)}`];
    });
    const text = amounts.entries === 0 ? "nothing" : wordsOf(amounts, measure);
    return [`${nameOf(day)}: ${text}`, ...parts].join(" · ");
  };
  const columns: readonly ChartColumn[] = days.map((day) => ({
    key: day.day,
    label: nameOf(day.day),
    title: sentence(day),
    values: day.values,
    isIncomplete: measure === "cost" && day.amounts.unknown_cost_entries > 0,
    href: hrefOf?.(day.day),
  }));
  const shown = days.find(({ day }) => day === pointed);
  const isUnknown = columns.some(({ isIncomplete }) => isIncomplete);
  return (
    <div className="flex min-w-0 flex-col gap-3 p-4">
      <p aria-hidden="true" className="h-5 truncate text-dense text-ink-2">
        {shown === undefined
          ? `${label} by day, ${wordsOf(totals, measure)} in all`
          : sentence(shown)}
      </p>
      <BarChart
        label={chartLabel(days, totals, measure, nameOf)}
        tones={tones}
        columns={columns}
        format={short}
        onPoint={(column) => setPointed(column?.key)}
      />
      {isUnknown ? (
        <p className="text-label text-ink-3">
          A hatched mark above a bar: calls of this day have no known price, so the cost is higher.
        </p>
      ) : null}
    </div>
  );
}
