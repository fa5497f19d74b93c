import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { useEvents } from "../../live/index.ts";
import { agentQuery, agentsKey } from "../queries.ts";

/**
 * Refetches the agent after it was paused or resumed.
 * @param agentId if undefined, the lists of agents are refetched after any agent was paused or
 *   resumed
 */
export function useLiveAgent(agentId: string | undefined): void {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  useEvents((events) => {
    const isChanged = events.some(
      ({ type, agent_id }) =>
        (agentId === undefined || agent_id === agentId) &&
        (type === "agent.paused" || type === "agent.resumed"),
    );
    const queryKey =
      agentId === undefined
        ? [...agentsKey(workspace.id), "list"]
        : agentQuery(workspace, agentId).queryKey;
    if (isChanged) void queryClient.invalidateQueries({ queryKey });
  });
}
