import type { ListedRun } from "@beckon/client";
import { type CurrentWorkspace, listOptions } from "../../data/index.ts";
import { runsKey } from "../queries.ts";
import { queryOf, type RunFilters } from "./filters/run-filters.ts";

/** Runs that match, newest first, with the beginnings of their texts. */
export const runsQuery = ({ id, client }: CurrentWorkspace, filters: RunFilters) => ({
  ...listOptions<ListedRun>([...runsKey(id), "list", filters], (page, options) =>
    client.runs.list({ ...queryOf(filters, Date.now()), ...page, view: "summary" }, options),
  ),
  // Nothing patches the cache while no list is shown.
  staleTime: 0,
  meta: { live: true },
});
