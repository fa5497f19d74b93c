import type { Trigger } from "@beckon/client";
import { createTriggerBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { messageOf, wording } from "../../data/index.ts";
import { Field, FormDialog, FormError, TextInput } from "../../ui/index.ts";
import { useTriggerActions } from "./use-trigger-actions.ts";

interface RenameTriggerProps {
  readonly trigger: Trigger;
  readonly onClose: () => void;
}

/** The dialog that changes the name of a trigger. */
export function RenameTrigger({ trigger, onClose }: RenameTriggerProps) {
  const { update } = useTriggerActions(trigger);
  // The name when the dialog opened. If somebody else renames the trigger meanwhile, `trigger.name`
  // changes, and Save without an edit must not set the old name again.
  const [initial] = useState(trigger.name);
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(createTriggerBody.pick({ name: true }), { error: wording }),
    mode: "onTouched",
    defaultValues: { name: initial },
  });
  const { isDirty, errors } = formState;
  const rename = useMutation({ mutationFn: update });
  const save = ({ name }: { name: string }) =>
    name === initial ? onClose() : rename.mutate({ name });
  return (
    <FormDialog
      isDirty={() => isDirty}
      isSaved={rename.isSuccess}
      close={onClose}
      size="small"
      title="Rename trigger"
      description="Its URL stays the same."
      onSubmit={handleSubmit(save)}
      submit={{ label: "Save", pending: rename.isPending }}
    >
      <Field label="Name" error={messageOf(errors.name)}>
        <TextInput {...register("name")} autoComplete="off" autoFocus />
      </Field>
      <FormError error={rename.error} />
    </FormDialog>
  );
}
