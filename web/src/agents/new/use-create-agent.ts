import type { CreateAgentBody } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  announceChanges,
  announceIfOutdated,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { useNavigateFrom, useToast } from "../../ui/index.ts";
import { agentQuery, agentsKey } from "../queries.ts";

/**
 * Returns the mutation that creates an agent and opens its first tab, the playground. If another
 * page is open by then, a toast says that the agent is created, and offers to open it.
 * @param onCreated called before the page is left, so that a form no longer asks about unsaved
 *   changes
 */
export function useCreateAgent(onCreated: () => void) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const navigateFrom = useNavigateFrom();
  const toast = useToast();
  const { keyOf } = useIdempotencyKey();
  return useMutation({
    onMutate: () => navigateFrom(),
    mutationFn: (body: CreateAgentBody) =>
      workspace.client.agents.create(body, { idempotencyKey: keyOf(body) }),
    onSuccess: async ({ token: _, ...agent }, _body, navigateHere) => {
      onCreated();
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, agent);
      void announceChanges(queryClient, agentsKey(workspace.id));
      const href = `/w/${workspace.id}/agents/${agent.id}`;
      if (await navigateHere({ href })) return;
      toast({
        tone: "success",
        title: `Created ${agent.name}`,
        action: { label: "Open", onPress: () => void navigate({ href }) },
      });
    },
    onError: (thrown) => void announceIfOutdated(queryClient, thrown, agentsKey(workspace.id)),
  });
}
