import type { Agent } from "@beckon/client";
import { pauseAgentBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import {
  announceChanges,
  messageOf,
  useIdempotencyKey,
  useWorkspace,
  wording,
} from "../../data/index.ts";
import { Field, FormDialog, FormError, TextArea } from "../../ui/index.ts";
import { agentQuery, agentsKey } from "../queries.ts";

interface PauseDialogProps {
  readonly agent: Agent;
  readonly close: () => void;
}

/** Asks for the reason of a pause, then pauses the agent. */
export function PauseDialog({ agent, close }: PauseDialogProps) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(pauseAgentBody, { error: wording }),
    mode: "onTouched",
    defaultValues: { reason: "" },
  });
  const { isDirty, errors } = formState;
  const pause = useMutation({
    mutationFn: ({ reason }: { reason?: string | undefined }) => {
      const body = reason ? { reason } : {};
      return workspace.client.agents.pause(agent.id, body, { idempotencyKey: keyOf(body) });
    },
    onSuccess: (paused) => {
      queryClient.setQueryData(agentQuery(workspace, agent.id).queryKey, paused);
      void announceChanges(queryClient, agentsKey(workspace.id));
    },
  });
  return (
    <FormDialog
      isDirty={() => isDirty}
      isSaved={pause.isSuccess}
      close={close}
      size="small"
      title={`Pause ${agent.name}?`}
      description="New runs are rejected, or held if their trigger says so, until somebody resumes the agent. Runs that were accepted continue."
      onSubmit={handleSubmit((values) => pause.mutate(values))}
      submit={{ label: "Pause agent", pending: pause.isPending, pendingText: "Pausing…" }}
    >
      <Field
        label="Reason"
        optional
        hint="Callers see it in the error, and people on all pages of the agent."
        error={messageOf(errors.reason)}
      >
        <TextArea {...register("reason")} rows={2} autoFocus />
      </Field>
      <FormError error={pause.error} />
    </FormDialog>
  );
}
