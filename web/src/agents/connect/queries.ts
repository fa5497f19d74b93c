import type { ListedRun } from "@beckon/client";
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";
import { runsKey } from "../../runs/index.ts";
import { agentQuery } from "../queries.ts";

/** The last run that an invoke of the agent has started; null if there was none. */
export const lastCallQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  queryOptions({
    queryKey: [...runsKey(id), "last call", agentId],
    queryFn: async ({ signal }): Promise<ListedRun | null> => {
      const query = { source: "invoke", view: "summary", limit: 1 } as const;
      const { data } = await client.runs.listForAgent(agentId, query, { signal }).page();
      return data[0] ?? null;
    },
    meta: { live: true },
  });

/**
 * What this page knows about an agent's token from its own calls, because the API has no operation
 * that returns the state of a token. Before the first call, the page assumes that a token is
 * issued.
 */
export interface TokenState {
  readonly isIssued: boolean;
  /**
   * Unix time in ms until which the previous token is still valid; undefined if it is not valid or
   * if this is not known.
   */
  readonly previousUntil?: number | undefined;
}

/**
 * Caches the state of the token until the dashboard is reloaded or a reset (see `useResets`)
 * empties the cache. The state is never read from the server: a refetch, for example after
 * `announceChanges`, returns what is cached.
 */
export const tokenStateQuery = (workspace: CurrentWorkspace, agentId: string) => {
  const queryKey = [...agentQuery(workspace, agentId).queryKey, "token"] as const;
  return queryOptions({
    queryKey,
    queryFn: ({ client }): TokenState =>
      (client as QueryClient).getQueryData<TokenState>(queryKey) ?? { isIssued: true },
    initialData: { isIssued: true } as TokenState,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
    meta: { emptiedByReset: true },
  });
};
