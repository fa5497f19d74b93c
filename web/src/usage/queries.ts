import type { GetUsageQuery, UsageReport } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../data/index.ts";
import type { Measure } from "./measure.ts";
import { daysFilters } from "./range.ts";

/** The groupings of usage that this screen offers. */
export type Grouping = "agent" | "model" | "caller";
const groupings = ["agent", "model", "caller"] as const satisfies readonly Grouping[];

/** Names of the API's filters besides the range. The URL of the screen uses the same names. */
const filterNames = ["agent_id", "model", "caller", "tag"] as const;

/** The search parameters of the screen, as texts. */
export type UsageSearch = Readonly<
  Partial<
    Record<
      (typeof filterNames)[number] | "range" | "from" | "to" | "group_by" | "show" | "as",
      string
    >
  >
>;

/** The range and the filters of a report. */
export type UsageFilters = Pick<GetUsageQuery, (typeof filterNames)[number] | "from" | "to">;

/**
 * Returns the filters in the URL. A filter with an empty value is left out: its value is not chosen
 * yet.
 * @param today the last day of named ranges, as YYYY-MM-DD
 */
export function filtersOf(search: UsageSearch, today: string): UsageFilters {
  const chosen = filterNames.map((name) => [name, search[name]]).filter(([, value]) => value);
  return { ...daysFilters(search, today), ...Object.fromEntries(chosen) };
}

/**
 * Returns the filters of the list of runs that match those of the report, without the range;
 * undefined if the list has no such filter, because it would then show other runs as well. A
 * trigger as caller has none either: the runs of a trigger include those that members have retried
 * or replayed, whose caller is the member.
 */
export function runFiltersOf({ agent_id, model, caller, tag }: UsageFilters) {
  if (model || caller) return undefined;
  return { ...(agent_id && { agent_id }), ...(tag && { tag }) };
}

export function groupingOf({ group_by }: UsageSearch): Grouping {
  return groupings.find((name) => name === group_by) ?? "agent";
}

export function measureOf({ show }: UsageSearch): Measure {
  return show === "tokens" || show === "calls" ? show : "cost";
}

/** Maximum number of pages of a report that are read: 5,000 rows. */
const maxPages = 5;

/** Reports contain the usage of today, which grows. So they are refetched after this time. */
const renewMs = 60_000;

/** The report of usage, grouped by day or by the grouping of the screen. */
export const usageQuery = (
  { id, client }: CurrentWorkspace,
  filters: UsageFilters,
  group_by: "day" | Grouping,
) =>
  queryOptions({
    queryKey: [id, "usage", group_by, filters],
    queryFn: async ({ signal }): Promise<UsageReport> => {
      const query = { ...filters, group_by };
      const first = await client.usage.get(query, { signal });
      const rows = [...first.rows];
      let { next } = first;
      for (let pages = 1; next !== null && pages < maxPages; pages++) {
        const page = await client.usage.get({ ...query, after: next }, { signal });
        rows.push(...page.rows);
        next = page.next;
      }
      return { ...first, rows, next };
    },
    refetchInterval: renewMs,
  });

/** Returns the query for the CSV file with the usage that the screen shows, by day and group. */
export function csvQuery(filters: UsageFilters, grouping: Grouping): GetUsageQuery {
  return { ...filters, group_by: `day,${grouping}` };
}
