import type { CreateTriggerAnswer } from "@beckon/client";
import { createTriggerBody, type Preset, type PresetName } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { useAgent } from "../../agents/index.ts";
import {
  announceChanges,
  announceIfOutdated,
  failureOf,
  messageOf,
  useIdempotencyKey,
  useWorkspace,
  wording,
} from "../../data/index.ts";
import { Checkbox, Field, FormDialog, FormError, TextArea, TextInput } from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import { triggerQuery, triggersKey } from "../queries.ts";
import { presetsQuery } from "../receiving/queries.ts";
import { shortTitle } from "../receiving/short-title.ts";
import type { TriggerExample } from "./examples.ts";
import { SenderChoice } from "./sender-choice.tsx";

/**
 * The fields of the request that the form shows. The settings of the sender come from its preset.
 */
const typed = { name: true, prompt_prefix: true, allows_callback: true } as const;

interface Fields {
  readonly name: string;
  readonly prompt_prefix: string;
  readonly allows_callback: boolean;
}

/** A trigger that was just created, with the preset of its sender and the generated secret. */
export interface Created {
  readonly trigger: CreateTriggerAnswer;
  readonly preset: Preset | undefined;
  /** undefined if none was generated. */
  readonly secret: string | undefined;
}

interface NewTriggerFormProps {
  readonly example: TriggerExample | undefined;
  readonly onClose: () => void;
  readonly onCreated: (created: Created) => void;
}

/** The form of a new trigger: sender, name, prompt prefix, and whether callbacks are allowed. */
export function NewTriggerForm({ example, onClose, onCreated }: NewTriggerFormProps) {
  const workspace = useWorkspace();
  const agent = useAgent();
  const queryClient = useQueryClient();
  const { keyOf } = useIdempotencyKey();
  const { data: presets } = useQuery(presetsQuery(workspace));
  const [sender, setSender] = useState<PresetName | "">(example?.preset ?? "");
  const { register, handleSubmit, formState, setValue, getValues } = useForm({
    resolver: zodResolver(createTriggerBody.pick(typed), { error: wording }),
    mode: "onTouched",
    defaultValues: {
      name: example?.name ?? "",
      prompt_prefix: example?.promptPrefix ?? "",
      allows_callback: false,
    },
  });
  const { isDirty } = formState;
  const choose = (name: PresetName | "") => {
    const titleOf = (of: string) =>
      shortTitle(presets?.find((each) => each.name === of)?.title ?? "");
    // Replaces the name only if it is empty, or was filled in for the sender that was chosen
    // before.
    const current = getValues("name").trim();
    if (current === "" || current === titleOf(sender))
      setValue("name", titleOf(name), { shouldValidate: formState.errors.name !== undefined });
    // The example's prefix is written for the example's sender.
    if (name !== sender && getValues("prompt_prefix") === example?.promptPrefix)
      setValue("prompt_prefix", "");
    setSender(name);
  };
  const create = useMutation({
    mutationFn: async (fields: Fields): Promise<Created> => {
      // The presets can still be loading, or their request can have failed. Without the preset of
      // the chosen sender, the trigger would accept anything. So they are read here if needed.
      const preset =
        sender === ""
          ? undefined
          : (await queryClient.ensureQueryData(presetsQuery(workspace))).find(
              ({ name }) => name === sender,
            );
      const body = preset === undefined ? fields : { ...fields, receiving: preset.receiving };
      const { triggers } = workspace.client;
      const trigger = await triggers.create(agent.id, body, { idempotencyKey: keyOf(body) });
      const needsSecret = preset?.secret_from === "receiver";
      const secret = needsSecret
        ? await workspace.client.triggers
            .setSecret(agent.id, trigger.id, {}, { idempotencyKey: keyOf(trigger.id) })
            .then(({ secret: generated }) => generated)
            // The trigger exists already, so a failure is not shown here. The next dialog offers to
            // generate the secret again.
            .catch(() => undefined)
        : undefined;
      return { trigger, preset, secret };
    },
    onSuccess: (created) => {
      const { token: _, url: __, ...trigger } = created.trigger;
      queryClient.setQueryData(triggerQuery(workspace, agent.id, trigger.id).queryKey, trigger);
      onCreated(created);
      return announceChanges(queryClient, triggersKey(workspace.id, agent.id));
    },
    onError: (thrown) =>
      void announceIfOutdated(queryClient, thrown, triggersKey(workspace.id, agent.id)),
  });
  return (
    <FormDialog
      isDirty={() => isDirty}
      close={onClose}
      title="New trigger"
      description={`What is posted to its URL starts a run of ${agent.name}.`}
      onSubmit={handleSubmit(({ name, prompt_prefix, allows_callback }) =>
        create.mutate({ name, prompt_prefix, allows_callback: allows_callback === true }),
      )}
      submit={{ label: "Create", pending: create.isPending, pendingText: "Creating…" }}
    >
      <SenderChoice value={sender} onChange={choose} />
      <Field
        label="Name"
        hint="Who or what calls it. Only people see it."
        error={messageOf(formState.errors.name)}
      >
        <TextInput {...register("name")} autoComplete="off" />
      </Field>
      <Field
        label="Prompt prefix"
        optional
        hint="Added before each payload, to say what to do with it."
        error={messageOf(formState.errors.prompt_prefix)}
      >
        <TextArea {...register("prompt_prefix")} rows={3} />
      </Field>
      <Checkbox
        {...register("allows_callback")}
        label={callbackTexts.label}
        hint={callbackTexts.hint}
      />
      <FormError
        error={
          create.isError
            ? failureOf(
                create.error,
                "the trigger was created",
                "Press Create again without changes: it is created once only.",
              )
            : undefined
        }
      />
    </FormDialog>
  );
}
