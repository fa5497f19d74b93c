import type { Agent } from "@beckon/client";
import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type CurrentWorkspace, listOptions, useWorkspace } from "../data/index.ts";
import { limitPollMs } from "./pause.ts";

/** Prefix of the keys of all queries about agents, to refetch them with `announceChanges`. */
export const agentsKey = (workspaceId: string) => [workspaceId, "agents"] as const;

/**
 * An agent with its current configuration. The query key contains "one", because the id comes from
 * the URL. Without "one", `/agents/names` would read what another query has cached as `names`.
 */
export const agentQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  queryOptions({
    queryKey: [...agentsKey(id), "one", agentId],
    queryFn: ({ signal }) => client.agents.get(agentId, { signal }),
    // Refetched each time a screen that shows the agent is opened, because nothing updates the
    // cache while such screens are closed.
    staleTime: 0,
    meta: { live: true },
    refetchInterval: ({ state }) => limitPollMs(state.data?.paused_by === "limit"),
  });

/** The agents that a person can choose from, for example for a key, newest first. */
export const choosableAgentsQuery = ({ id, client }: CurrentWorkspace) =>
  listOptions([...agentsKey(id), "to choose"], (page, options) =>
    client.agents.list({ ...page, limit: 200, view: "summary" }, options),
  );

/**
 * The triggers of an agent that a person can choose from, for example for a subscription. The key
 * begins like that of the agent's list of triggers, so that both are refetched together.
 */
export const choosableTriggersQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  listOptions([id, "triggers", agentId, "to choose"], (page, options) =>
    client.triggers.list(agentId, { ...page, limit: 200 }, options),
  );

/** The newest agent, without its instructions and tools; null if there are no agents. */
export const newestAgentQuery = ({ id, client, can }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...agentsKey(id), "newest"],
    queryFn: async ({ signal }) =>
      (await client.agents.list({ limit: 1, view: "summary" }, { signal }).page()).data[0] ?? null,
    enabled: can("agents:read"),
  });

/** Returns the id in the URL of the agent's screens. */
export function useAgentId(): string {
  return useParams({ from: "/w/$workspaceId/agents/$agentId" }).agentId;
}

/** Returns the agent of the screen. `AgentFrame` has loaded it before the screen is rendered. */
export function useAgent(): Agent {
  return useSuspenseQuery(agentQuery(useWorkspace(), useAgentId())).data;
}
