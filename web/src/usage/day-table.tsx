import { formatDate } from "../format/index.ts";
import { type Column, DataTable, EmptyState, ScrollRegion } from "../ui/index.ts";
import { type Measure, measures } from "./measure.ts";
import { numberColumn } from "./number-column.tsx";
import type { UsageDay } from "./series.ts";
import { UsageCost } from "./usage-cost.tsx";

interface DayTableProps {
  readonly days: readonly UsageDay[];
  /** On a phone, the table shows only the calls and this measure. */
  readonly measure: Measure;
  /**
   * Returns the path of the list of a day's runs; undefined if the person has no permission to read
   * runs, or if the list cannot be filtered like the usage.
   */
  readonly hrefOf: ((day: string) => string) | undefined;
}

/** The days of the chart as rows, the newest first. */
export function DayTable({ days, measure, hrefOf }: DayTableProps) {
  return (
    <ScrollRegion label="Usage by day" variant="tall">
      <DataTable
        label="Usage by day"
        columns={columnsFor(measure)}
        rows={days.toReversed()}
        rowKey={({ day }) => day}
        rowHref={hrefOf && (({ day }) => hrefOf(day))}
        empty={<EmptyState>Nothing was used in this period.</EmptyState>}
      />
    </ScrollRegion>
  );
}

const columnsFor = (measure: Measure): readonly Column<UsageDay>[] => [
  {
    id: "day",
    header: "Day",
    // `day` is a date in the workspace's time zone already. It is formatted as noon in UTC, so that
    // no conversion to another zone changes it.
    cell: ({ day }) => formatDate(`${day}T12:00:00Z`, Date.now(), "UTC"),
  },
  numberColumn("calls", "Calls", 88, undefined, ({ entries }) => entries),
  ...(measure === "tokens"
    ? [numberColumn("tokens", "Tokens", 120, undefined, measures.tokens.amountOf)]
    : []),
  numberColumn("input", "Input tokens", 120, "sm", ({ input_tokens }) => input_tokens),
  numberColumn("output", "Output tokens", 120, "sm", ({ output_tokens }) => output_tokens),
  {
    id: "cost",
    header: "Cost",
    width: 112,
    from: measure === "tokens" ? "sm" : undefined,
    align: "end",
    cell: ({ amounts }) =>
      amounts.entries === 0 ? (
        <span className="text-ink-3">–</span>
      ) : (
        <UsageCost amounts={amounts} />
      ),
  },
];
