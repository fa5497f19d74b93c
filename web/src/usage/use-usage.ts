import type { UsageReport } from "@beckon/client";
import { type UseQueryResult, useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useWorkspace } from "../data/index.ts";
import type { Measure } from "./measure.ts";
import { type Grouping, type UsageFilters, usageQuery } from "./queries.ts";
import { daysOf } from "./range.ts";
import { groupsOf, largest, stackDays } from "./series.ts";

const filterOf = { agent: "agent_id", model: "model", caller: "caller" } as const;

/**
 * Returns the usage of the range by day and by group. Each of the largest groups has a separate
 * report by day, because one report by day and group could have too many rows.
 */
export function useUsage(filters: UsageFilters, grouping: Grouping, measure: Measure) {
  const workspace = useWorkspace();
  const byDay = useQuery(usageQuery(workspace, filters, "day"));
  const byGroup = useQuery(usageQuery(workspace, filters, grouping));
  const groups = groupsOf(byGroup.data?.rows ?? [], grouping, measure);
  const parts = useQueries({
    queries: largest(groups).map(({ key }) =>
      usageQuery(workspace, { ...filters, [filterOf[grouping]]: key }, "day"),
    ),
    combine: combineParts,
  });
  const report = byDay.data;
  const { rows } = parts;
  const days = useMemo(() => {
    if (report === undefined) return [];
    const dates = daysOf(report.from, report.to);
    // If the range has no list of dates, only days with usage are shown.
    const shown = dates.length > 0 ? dates : report.rows.flatMap(({ day }) => day ?? []);
    return stackDays(shown, report.rows, rows, measure);
  }, [report, rows, measure]);
  return {
    report,
    groups,
    days,
    byDay,
    byGroup,
    parts: {
      ...parts,
      /**
       * Whether the groups of each day are known. Without the report of one of them, its usage
       * would be shown as that of the rest.
       */
      areKnown: !byGroup.isPending && parts.areKnown,
    },
  };
}

function combineParts(parts: readonly UseQueryResult<UsageReport>[]) {
  return {
    rows: parts.map(({ data }) => data?.rows ?? []),
    areKnown: parts.every(({ data }) => data !== undefined),
    error: parts.find(({ error }) => error !== null)?.error ?? null,
    /** When the oldest report was read, as Unix time in ms. */
    dataUpdatedAt: Math.min(...parts.map(({ dataUpdatedAt }) => dataUpdatedAt)),
    refetch: () => Promise.all(parts.filter((part) => part.isError).map((part) => part.refetch())),
  };
}
