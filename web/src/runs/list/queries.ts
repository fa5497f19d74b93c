import type { CallOptions, ListedRun, Page } from "@beckon/client";
import { type CurrentWorkspace, listOptions, type PageQuery, serverNow } from "../../data/index.ts";
import { isEnded } from "../patch-run.ts";
import { listsKey } from "../queries.ts";
import { queryOf, type RunFilters } from "./filters/run-filters.ts";
import type { RunPages } from "./head.ts";

/**
 * Reads a page of the runs that match the filters, newest first, with truncated texts.
 *
 * Relative times such as `24h` are counted back from the time of the first page, because the server
 * accepts a cursor only together with the filters of its page. So `next` is the server's cursor
 * followed by `@` and that time.
 */
async function readRuns(
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

/**
 * The runs that match the filters, as pages of `readRuns`.
 *
 * A list is static: `useNewRuns` updates it when it is opened again and when its data is
 * invalidated. A refetch would read all pages, and insert new rows while a person reads others.
 * Only a search in texts is refetched while a run that it has found has not ended: the search can
 * have a hundred pages that are nearly empty, because a page covers only so many runs.
 */
export const runsQuery = (workspace: CurrentWorkspace, filters: RunFilters) => ({
  ...listOptions<ListedRun>([...listsKey(workspace.id), filters], (page, options) => ({
    page: () => readRuns(workspace, filters, page, options),
  })),
  staleTime: ({ state: { data } }: { readonly state: { readonly data: RunPages | undefined } }) =>
    filters.text === undefined || data?.pages.every((page) => page.data.every(isEnded))
      ? ("static" as const)
      : 0,
  // At a reset, which can follow a restore of the database, a search begins anew.
  meta: { live: true, emptiedByReset: filters.text !== undefined },
});
