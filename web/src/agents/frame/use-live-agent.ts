import { useQueryClient } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { useEvents } from "../../live/index.ts";
import { agentQuery } from "../queries.ts";

/** Refetches the agent after it was paused or resumed. */
export function useLiveAgent(agentId: string): void {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  useEvents((events) => {
    const isChanged = events.some(
      ({ type, agent_id }) =>
        agent_id === agentId && (type === "agent.paused" || type === "agent.resumed"),
    );
    if (isChanged)
      void queryClient.invalidateQueries({ queryKey: agentQuery(workspace, agentId).queryKey });
  });
}
