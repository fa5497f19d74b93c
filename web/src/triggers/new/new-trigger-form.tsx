import type { CreateTriggerAnswer } from "@beckon/client";
import { createTriggerBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { useAgent } from "../../agents/index.ts";
import {
  announceChanges,
  messageOf,
  useIdempotencyKey,
  useWorkspace,
  wording,
} from "../../data/index.ts";
import { Button, Checkbox, Dialog, Field, FormError, TextArea, TextInput } from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import { triggerQuery, triggersKey } from "../queries.ts";
import type { TriggerExample } from "./examples.ts";

interface NewTriggerFormProps {
  readonly example: TriggerExample | undefined;
  readonly onClose: () => void;
  readonly onCreated: (trigger: CreateTriggerAnswer) => void;
}

/** The form of a new trigger. Only the name is required. */
export function NewTriggerForm({ example, onClose, onCreated }: NewTriggerFormProps) {
  const workspace = useWorkspace();
  const agent = useAgent();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(createTriggerBody, { error: wording }),
    mode: "onTouched",
    defaultValues: {
      name: example?.name ?? "",
      prompt_prefix: example?.promptPrefix ?? "",
      allows_callback: false,
    },
  });
  const create = useMutation({
    mutationFn: (body: { name: string; prompt_prefix: string; allows_callback: boolean }) =>
      workspace.client.triggers.create(agent.id, body, { idempotencyKey: keyOf(body) }),
    onSuccess: (created) => {
      const { token: _, url: __, ...trigger } = created;
      queryClient.setQueryData(triggerQuery(workspace, agent.id, created.id).queryKey, trigger);
      onCreated(created);
      return announceChanges(queryClient, triggersKey(workspace.id, agent.id));
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="New trigger"
      description={`Whatever is posted to its URL starts a run of ${agent.name}.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form="new-trigger"
            variant="primary"
            pending={create.isPending}
            pendingText="Creating…"
          >
            Create
          </Button>
        </>
      }
    >
      <form
        id="new-trigger"
        noValidate
        onSubmit={handleSubmit(({ name, prompt_prefix, allows_callback }) =>
          create.mutate({ name, prompt_prefix, allows_callback: allows_callback === true }),
        )}
        className="flex flex-col gap-4"
      >
        <Field
          label="Name"
          hint="Who or what calls it. Only people see it."
          error={messageOf(formState.errors.name)}
        >
          <TextInput {...register("name")} autoComplete="off" autoFocus />
        </Field>
        <Field
          label="Prompt prefix"
          optional
          hint="Stands before each payload and says what to do with it."
          error={messageOf(formState.errors.prompt_prefix)}
        >
          <TextArea {...register("prompt_prefix")} rows={3} />
        </Field>
        <Checkbox
          {...register("allows_callback")}
          label={callbackTexts.label}
          hint={callbackTexts.hint}
        />
        <FormError error={create.error} />
      </form>
    </Dialog>
  );
}
