import type { ListedRun, Trigger } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";
import { runsKey } from "../runs/index.ts";

/** Beginning of the keys of all queries of an agent's triggers, for `announceChanges`. */
export const triggersKey = (workspaceId: string, agentId: string) =>
  [workspaceId, "triggers", agentId] as const;

/** The triggers of an agent. */
export const triggersQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  listOptions<Trigger>([...triggersKey(id, agentId), "list"], (page, options) =>
    client.triggers.list(agentId, page, options),
  );

/** One trigger. */
export const triggerQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) =>
  queryOptions({
    queryKey: [...triggersKey(id, agentId), triggerId],
    queryFn: ({ signal }) => client.triggers.get(agentId, triggerId, { signal }),
  });

/** Beginning of the keys of what an agent's triggers have received. */
export const receivedKey = (workspaceId: string, agentId: string) =>
  [...runsKey(workspaceId), "received", agentId] as const;

/** Newest first, with the beginnings of their texts. */
const summary = { source: "trigger", view: "summary" } as const;

/** What a trigger has received. */
export const receivedQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) => ({
  ...listOptions<ListedRun>([...receivedKey(id, agentId), triggerId], (page, options) =>
    client.runs.listForAgent(agentId, { ...summary, trigger_id: triggerId, ...page }, options),
  ),
  // Nothing patches the cache while the screen is not shown.
  staleTime: 0,
  meta: { live: true },
});

/** What all triggers of an agent have received last: enough to say when, for most of them. */
export const recentQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  queryOptions({
    queryKey: [...receivedKey(id, agentId), "recent"],
    queryFn: ({ signal }) =>
      client.runs.listForAgent(agentId, { ...summary, limit: 50 }, { signal }).page(),
    staleTime: 0,
    meta: { live: true },
  });

/** When a trigger received something last; null if never. */
export const lastReceivedQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) =>
  queryOptions({
    queryKey: [...receivedKey(id, agentId), triggerId, "last"],
    queryFn: async ({ signal }) => {
      const query = { ...summary, trigger_id: triggerId, limit: 1 };
      const { data } = await client.runs.listForAgent(agentId, query, { signal }).page();
      return data[0]?.created_at ?? null;
    },
    meta: { live: true },
  });

/** Returns the id of the trigger in the URL; undefined on the list. */
export function useTriggerId(): string | undefined {
  return (useParams({ strict: false }) as { readonly triggerId?: string }).triggerId;
}
