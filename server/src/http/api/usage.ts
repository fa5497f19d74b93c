import { usageQuery, usageReport } from "@beckon/contract";
import { getUsage } from "../../usage/index.ts";
import type { ManagedRoute } from "../management/index.ts";

export const usageRoutes: readonly ManagedRoute[] = [
  {
    method: "GET",
    path: "/usage",
    permission: "usage:read",
    doc: {
      id: "getUsage",
      summary: "Get usage",
      description:
        "What was used and what it cost, from the usage ledger: it has an entry for every call that was sent to a model, also of draft runs, failed runs and deleted runs. There is a row for each combination of the groups in `group_by`, sorted by these; groups without entries are left out. `totals` are the sums over all rows of all pages. `cost_micros` is the sum of the known costs, and `unknown_cost_entries` counts the entries that have none. By default the report has the last 30 days, by day. A day is the local date at the time of the entry, also if the workspace's time zone changed since. With `group_by=hour` or `tag`, the filter `tag`, or times in `from` and `to`, the range can be at most 31 days. An entry of a run with several tags is in the row of each. A report that takes longer than 3 seconds, or than its request has left, is rejected: shorten the range or, unless its range can be at most 31 days, name one agent. With `format=csv` the response is a file with all rows, at most 50,000. A key that is limited to agents gets the usage of these agents.",
      query: usageQuery,
      data: usageReport,
      csv: true,
    },
    handle: async ({ ctx, query }) => {
      const usage = await getUsage({ ctx, input: { query } });
      if (usage.format === "json") return { data: usage.report };
      const { name, content, heldBytes } = usage;
      return {
        file: {
          name,
          type: "text/csv; charset=utf-8; header=present",
          content,
          heldBytes: () => heldBytes,
        },
      };
    },
  },
];
