import type { Agent } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { announceChanges, failureWords, useWorkspace } from "../../data/index.ts";
import { Button, useToast } from "../../ui/index.ts";
import { agentsKey } from "../queries.ts";

/** Restores a deleted agent. */
export function RestoreButton({ agent }: { readonly agent: Agent }) {
  const { id, client, whyNot } = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const restore = useMutation({
    mutationFn: () => client.agents.restore(agent.id),
    onSuccess: async () => {
      await announceChanges(queryClient, agentsKey(id));
      toast({
        tone: "success",
        title: `Restored ${agent.name}`,
        description: "It has no API token, and its triggers are disabled.",
        action: {
          label: "Open",
          onPress: () => void navigate({ href: `/w/${id}/agents/${agent.id}` }),
        },
      });
    },
    onError: (thrown) =>
      toast({
        tone: "failure",
        ...failureWords(
          thrown,
          `${agent.name} was not restored.`,
          "it was restored",
          "Open the list of deleted agents: a restored agent is not in it.",
        ),
      }),
  });
  return (
    <Button
      size="small"
      aria-label={`Restore ${agent.name}`}
      onClick={() => restore.mutate()}
      pending={restore.isPending}
      pendingText="Restoring…"
      disabledReason={whyNot("agents:write")}
    >
      Restore
    </Button>
  );
}
