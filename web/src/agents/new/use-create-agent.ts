import type { CreateAgentBody } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { announceChanges, useIdempotencyKey, useWorkspace } from "../../data/index.ts";
import { agentQuery, agentsKey } from "../queries.ts";

/**
 * Returns the mutation that creates an agent and opens its first tab, the playground.
 * @param onCreated called before the page is left, so that a form no longer asks about unsaved
 *   changes
 */
export function useCreateAgent(onCreated: () => void) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { keyOf } = useIdempotencyKey();
  return useMutation({
    mutationFn: (body: CreateAgentBody) =>
      workspace.client.agents.create(body, { idempotencyKey: keyOf(body) }),
    onSuccess: async ({ token: _, ...agent }) => {
      onCreated();
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, agent);
      void announceChanges(queryClient, agentsKey(workspace.id));
      await navigate({ href: `/w/${workspace.id}/agents/${agent.id}` });
    },
  });
}
