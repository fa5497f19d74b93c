import type { Subscription } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../data/index.ts";

/**
 * Prefix of the keys of all queries about subscriptions, to refetch them with `announceChanges`.
 */
export const subscriptionsKey = (workspaceId: string) => [workspaceId, "subscriptions"] as const;

/** All subscriptions of the workspace: there are at most 50. */
export const subscriptionsQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...subscriptionsKey(id), "list"],
    queryFn: async ({ signal }): Promise<readonly Subscription[]> =>
      (await client.subscriptions.list({ limit: 200 }, { signal }).page()).data,
    // Refetched each time the screen opens, because nothing updates the cache while it is closed.
    staleTime: 0,
    meta: { live: true },
    enabled: can("subscriptions:read"),
  });
