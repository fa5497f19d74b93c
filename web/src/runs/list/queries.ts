import type { ListedRun } from "@beckon/client";
import { type CurrentWorkspace, listOptions } from "../../data/index.ts";
import { runsKey } from "../queries.ts";
import { queryOf, type RunFilters } from "./filters/run-filters.ts";

/** The runs that match the filters, newest first, with truncated texts. */
export const runsQuery = ({ id, client }: CurrentWorkspace, filters: RunFilters) => ({
  ...listOptions<ListedRun>([...runsKey(id), "list", filters], (page, options) =>
    client.runs.list({ ...queryOf(filters, Date.now()), ...page, view: "summary" }, options),
  ),
  // Events update a list only while it is shown. So a list is refetched each time it is opened.
  staleTime: 0,
  meta: { live: true },
});
