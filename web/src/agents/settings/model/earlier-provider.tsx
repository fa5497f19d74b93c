import type { Agent } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useFormState } from "react-hook-form";
import { announceChanges, sentenceOf, useWorkspace } from "../../../data/index.ts";
import { Banner, Button } from "../../../ui/index.ts";
import { agentQuery, agentsKey } from "../../queries.ts";
import type { FormValues } from "../form-values.ts";
import { useSettings } from "../settings-context.tsx";

/**
 * Says that the agent uses another provider than the one that its model names. A version keeps its
 * provider, so the agent must be saved. If the form has nothing to save, a button saves the same
 * model again.
 */
export function EarlierProvider({ agent }: { readonly agent: Agent }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { disabledReason } = useSettings();
  const { isDirty } = useFormState<FormValues>();
  const canSave = disabledReason === undefined;
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
        canSave && !isDirty ? (
          <Button
            size="small"
            onClick={() => save.mutate(agent)}
            pending={save.isPending}
            pendingText="Saving…"
          >
            Use the current provider
          </Button>
        ) : undefined
      }
    >
      {agent.provider_id === null
        ? "The agent still uses the operator's provider of this name."
        : "The agent still uses an earlier provider of this name."}
      {canSave && isDirty ? " Save to use the current one." : ""}
      {save.error === null ? "" : ` ${sentenceOf(save.error)}`}
    </Banner>
  );
}
