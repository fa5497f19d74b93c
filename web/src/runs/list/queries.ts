import type { CallOptions, ListedRun, Page } from "@beckon/client";
import { type CurrentWorkspace, listOptions, type PageQuery, serverNow } from "../../data/index.ts";
import { runsKey } from "../queries.ts";
import { queryOf, type RunFilters } from "./filters/run-filters.ts";

/**
 * Reads a page of the runs that match the filters, newest first, with truncated texts.
 *
 * Relative times such as `24h` are counted back from the time of the first page, because the server
 * accepts a cursor only together with the filters of its page. So `next` is the server's cursor
 * followed by `@` and that time.
 */
export async function readRuns(
  { client }: Pick<CurrentWorkspace, "client">,
  filters: RunFilters,
  { after, limit }: PageQuery,
  options?: CallOptions,
): Promise<Page<ListedRun>> {
  const [cursor, nowMs = serverNow()] = after?.split("@") ?? [];
  const query = {
    ...queryOf(filters, Number(nowMs)),
    limit,
    view: "summary" as const,
    ...(cursor === undefined ? {} : { after: cursor }),
  };
  const { data, next } = await client.runs.list(query, options).page();
  return { data, next: next === null ? null : `${next}@${nowMs}` };
}

/** The runs that match the filters, as pages of `readRuns`. */
export const runsQuery = (workspace: CurrentWorkspace, filters: RunFilters) => ({
  ...listOptions<ListedRun>([...runsKey(workspace.id), "list", filters], (page, options) => ({
    page: () => readRuns(workspace, filters, page, options),
  })),
  // Events update a list only while it is shown. So a list is refetched each time it is opened.
  staleTime: 0,
  meta: { live: true },
});
