import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { mayChangePause, pauseReadIntervalMs } from "../pause.ts";
import { agentQuery, agentsKey } from "../queries.ts";

/**
 * Refetches the agent after it was paused or resumed, by a person or by its ceiling (daily spending
 * limit).
 * @param agentId if undefined, the lists of agents are refetched after any agent was paused or
 *   resumed
 */
export function useLiveAgent(agentId: string | undefined): void {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const readAgain = useThrottled(() => {
    const queryKey =
      agentId === undefined
        ? [...agentsKey(workspace.id), "list"]
        : agentQuery(workspace, agentId).queryKey;
    return queryClient.invalidateQueries({ queryKey });
  }, pauseReadIntervalMs);
  useEvents((events) => {
    const isShown = (id: string | null) => agentId === undefined || id === agentId;
    if (events.some((event) => isShown(event.agent_id) && mayChangePause(event))) readAgain();
  });
}
