import type { ListedRun, Trigger } from "@beckon/client";
import { queryOptions } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type CurrentWorkspace, listOptions } from "../data/index.ts";
import { runsKey } from "../runs/index.ts";

/**
 * Prefix of the keys of all queries about an agent's triggers, to refetch them with
 * `announceChanges`.
 */
export const triggersKey = (workspaceId: string, agentId: string) =>
  [workspaceId, "triggers", agentId] as const;

/** The triggers of an agent. */
export const triggersQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  listOptions<Trigger>([...triggersKey(id, agentId), "list"], (page, options) =>
    client.triggers.list(agentId, page, options),
  );

/**
 * One trigger. The id comes from the URL and can be any text, also "list". Without the word "one",
 * the query key would then be that of {@link triggersQuery}, which ends with "list".
 */
export const triggerQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) =>
  queryOptions({
    queryKey: [...triggersKey(id, agentId), "one", triggerId],
    queryFn: ({ signal }) => client.triggers.get(agentId, triggerId, { signal }),
  });

/**
 * Prefix of the keys of the queries about the last payloads that an agent's triggers have received.
 * Each new run of the agent refetches them, so the key of a list that a person reads must not begin
 * with it: rows would be inserted into the list.
 */
export const lastPayloadsKey = (workspaceId: string, agentId: string) =>
  [...runsKey(workspaceId), "last payloads", agentId] as const;

/** Selects the runs that triggers have started, with `input` and `output` truncated. */
const summary = { source: "trigger", view: "summary" } as const;

/** The payloads that a trigger has received, newest first. */
export const payloadsQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) => ({
  ...listOptions<ListedRun>([...runsKey(id), "payloads", agentId, triggerId], (page, options) =>
    client.runs.listForAgent(agentId, { ...summary, trigger_id: triggerId, ...page }, options),
  ),
  // While the screen is not shown, events do not update the cache. So the data is loaded again each
  // time that the screen is opened.
  staleTime: 0,
  meta: { live: true },
});

/**
 * The last 50 payloads of all triggers of an agent together. Usually they contain the last payload
 * of each trigger that is in use.
 */
export const recentPayloadsQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  queryOptions({
    queryKey: [...lastPayloadsKey(id, agentId), "recent"],
    queryFn: ({ signal }) =>
      client.runs.listForAgent(agentId, { ...summary, limit: 50 }, { signal }).page(),
    staleTime: 0,
    meta: { live: true },
  });

/** The time of the last payload of a trigger; null if there was none. */
export const lastPayloadQuery = (
  { id, client }: CurrentWorkspace,
  agentId: string,
  triggerId: string,
) =>
  queryOptions({
    queryKey: [...lastPayloadsKey(id, agentId), triggerId, "last"],
    queryFn: async ({ signal }) => {
      const query = { ...summary, trigger_id: triggerId, limit: 1 };
      const { data } = await client.runs.listForAgent(agentId, query, { signal }).page();
      return data[0]?.created_at ?? null;
    },
    meta: { live: true },
  });

/** Returns the trigger's id in the URL; undefined if only the list is open. */
export function useTriggerId(): string | undefined {
  return (useParams({ strict: false }) as { readonly triggerId?: string }).triggerId;
}
