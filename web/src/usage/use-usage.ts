import { useQueries, useQuery } from "@tanstack/react-query";
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
  });
  const report = byDay.data;
  const dates = report === undefined ? [] : daysOf(report.from, report.to);
  return {
    report,
    groups,
    days:
      report === undefined
        ? []
        : stackDays(
            // If the range of the report is given as times and not as dates, the dates are not
            // known. In that case, only days with usage are shown.
            dates.length > 0 ? dates : report.rows.flatMap(({ day }) => day ?? []),
            report.rows,
            parts.map(({ data }) => data?.rows ?? []),
            measure,
          ),
    byDay,
    byGroup,
  };
}
