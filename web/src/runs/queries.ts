import type { ListedRun, Page, Run } from "@beckon/client";
import { type InfiniteData, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../data/index.ts";
import { newerRun } from "./patch-run.ts";

/** Prefix of the keys of all queries about runs, to refetch them with `announceChanges`. */
export const runsKey = (workspaceId: string) => [workspaceId, "runs"] as const;

/** A run with its whole input and output. For later events, update it with `patchRun`. */
export const runQuery = (
  { id, client }: Pick<CurrentWorkspace, "id" | "client">,
  runId: string,
) => {
  const queryKey = [...runsKey(id), "run", runId] as const;
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client: cache }) => {
      const before = cache.getQueryData<Run>(queryKey);
      const read = await client.runs.get(runId, { signal });
      const now = cache.getQueryData<Run>(queryKey);
      // Only a state that arrived during the request can be newer than the response. The response
      // replaces an earlier state, which can be from before a restore of the database.
      return now === before ? read : newerRun(now, read);
    },
    meta: { live: true },
  });
};

/** Prefix of the keys of all lists of runs with filters. */
export const listsKey = (workspaceId: string) => [...runsKey(workspaceId), "list"] as const;

/**
 * Removes deleted runs from the lists. Without this, a search in texts would keep them, because
 * only its newest page is read again (see `runsQuery`).
 * @param ids ids of the runs. If they are not known, all searches in texts begin anew.
 */
export function removeFromLists(
  queryClient: QueryClient,
  workspaceId: string,
  ids: readonly string[] | undefined,
): void {
  const queryKey = listsKey(workspaceId);
  if (ids === undefined)
    void queryClient.resetQueries({
      queryKey,
      predicate: ({ meta }) => meta?.emptiedByReset === true,
    });
  else
    queryClient.setQueriesData<InfiniteData<Page<ListedRun>>>(
      { queryKey },
      (list) =>
        list && {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            data: page.data.filter(({ id }) => !ids.includes(id)),
          })),
        },
    );
}
