import type { Agent } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { announceChanges, sentenceOf, useWorkspace } from "../../../data/index.ts";
import { Banner, Button } from "../../../ui/index.ts";
import { agentQuery, agentsKey } from "../../queries.ts";
import { useSettings } from "../settings-context.tsx";

/**
 * Says that the agent uses an earlier provider than the one that its model names. A version keeps
 * its provider, and the form has nothing to save, so a button saves the same model again.
 */
export function EarlierProvider({ agent }: { readonly agent: Agent }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { disabledReason } = useSettings();
  const tellOthers = () => announceChanges(queryClient, agentsKey(workspace.id));
  const save = useMutation({
    mutationFn: ({ id, model, version }: Agent) =>
      workspace.client.agents.update(id, { model }, { ifMatch: version }),
    onSuccess: (saved) => {
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, saved);
      return tellOthers();
    },
    // If someone else has saved, or the response was lost, the agent is refetched. The next attempt
    // is then based on the newest version.
    onError: tellOthers,
  });
  return (
    <Banner
      tone="warning"
      action={
        disabledReason === undefined ? (
          <Button
            size="small"
            onClick={() => save.mutate(agent)}
            pending={save.isPending}
            pendingText="Saving…"
          >
            Use this one
          </Button>
        ) : undefined
      }
    >
      The agent still uses an earlier provider of this name.
      {save.error === null ? "" : ` ${sentenceOf(save.error)}`}
    </Banner>
  );
}
