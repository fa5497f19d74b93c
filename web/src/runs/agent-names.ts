import type { WorkspaceEvent } from "@beckon/client";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { agentsKey, limitPollMs, mayChangePause, pauseReadIntervalMs } from "../agents/index.ts";
import { type CurrentWorkspace, useWorkspace } from "../data/index.ts";
import { useEvents, useThrottled } from "../live/index.ts";

/** The fields of an agent that lists of runs show. */
export interface AgentName {
  readonly name: string;
  readonly paused: boolean;
  readonly pauseReason: string | null;
  /** Whether the agent is paused by its ceiling (daily spending limit), and not by a person. */
  readonly isPausedByLimit: boolean;
}

/** Maximum number of agents whose names are read. For all others, the id is shown. */
export const maxAgents = 1_000;

/** The page must have the URL of the early request in `public/theme.js`. */
const namesPage = { limit: 200, view: "summary" } as const;

/** Names of the agents by their ids, newest agents first. */
export const agentNamesQuery = ({
  id,
  client,
  can,
}: Pick<CurrentWorkspace, "id" | "client" | "can">) =>
  queryOptions({
    queryKey: [...agentsKey(id), "names"],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, AgentName>> => {
      const names = new Map<string, AgentName>();
      for await (const agent of client.agents.list(namesPage, { signal })) {
        const { name, paused, paused_by, pause_reason } = agent;
        names.set(agent.id, {
          name,
          paused,
          pauseReason: pause_reason,
          isPausedByLimit: paused_by === "limit",
        });
        if (names.size === maxAgents) break;
      }
      return names;
    },
    enabled: can("agents:read"),
    // Nothing updates the names while no screen shows them. If they were read just before a screen
    // is rendered, they are not refetched.
    staleTime: 2_000,
    meta: { live: true },
    refetchInterval: ({ state }) =>
      limitPollMs([...(state.data?.values() ?? [])].some((agent) => agent.isPausedByLimit)),
  });

const none: ReadonlyMap<string, AgentName> = new Map();

/**
 * Returns the agents by id. The map is empty while they load, and if the person is not allowed to
 * read agents.
 */
export function useAgentNames(): ReadonlyMap<string, AgentName> {
  const options = agentNamesQuery(useWorkspace());
  const queryClient = useQueryClient();
  const names = useQuery(options).data;
  /**
   * Ids of agents that an event named and that were not in `names`. The list is refetched once for
   * each of them. An agent that is still missing was probably deleted, so its next events are
   * ignored.
   */
  const nameless = useRef(new Set<string>());
  const isNews = (event: WorkspaceEvent) => {
    if (mayChangePause(event)) return true;
    const { agent_id } = event;
    if (agent_id === null || names === undefined || names.has(agent_id)) return false;
    const isFirst = !nameless.current.has(agent_id);
    nameless.current.add(agent_id);
    return isFirst;
  };
  const readAgain = useThrottled(
    () => queryClient.invalidateQueries({ queryKey: options.queryKey }),
    pauseReadIntervalMs,
  );
  useEvents((events) => {
    if (events.filter(isNews).length > 0) readAgain();
  });
  return names ?? none;
}
