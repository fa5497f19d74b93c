import type { Trigger } from "@beckon/client";
import { createTriggerBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { messageOf, useWorkspace, wording } from "../../data/index.ts";
import { Button, Field, FormError, LeaveGuard, TextArea } from "../../ui/index.ts";
import { needsEditor } from "../permission.ts";
import { useTriggerPatch } from "../trigger/use-trigger-patch.tsx";

interface PrefixFormProps {
  readonly trigger: Trigger;
  /** Called with the typed prefix, and with undefined once it is saved or discarded. */
  readonly onEdit: (prefix: string | undefined) => void;
}

const fields = createTriggerBody.pick({ prompt_prefix: true });

/** The form for the prompt prefix, which is put before each payload. */
export function PrefixForm({ trigger, onEdit }: PrefixFormProps) {
  const { can } = useWorkspace();
  /** The trigger as it was before the first change; undefined while nothing is changed. */
  const [base, setBase] = useState<Trigger>();
  const { register, handleSubmit, reset, getValues, setValue, formState } = useForm({
    resolver: zodResolver(fields, { error: wording }),
    mode: "onTouched",
    defaultValues: { prompt_prefix: trigger.prompt_prefix },
    // A prefix that is saved elsewhere replaces the value of this field, unless it was edited here.
    values: { prompt_prefix: trigger.prompt_prefix },
    resetOptions: { keepDirtyValues: true },
  });
  const { isDirty, errors } = formState;
  const show = (prompt_prefix: string) => {
    reset({ prompt_prefix }, { keepDirtyValues: false });
    setBase(undefined);
    onEdit(undefined);
  };
  /** The text of the field when it was last sent. */
  const sent = useRef("");
  const patch = useTriggerPatch(trigger, {
    onSaved: (saved) => {
      const typed = getValues("prompt_prefix");
      show(saved.prompt_prefix);
      // What was typed while the prefix was being saved is kept.
      if (typed === sent.current) return;
      setValue("prompt_prefix", typed, { shouldDirty: true });
      setBase(saved);
      onEdit(typed);
    },
  });
  const disabledReason = needsEditor(can);
  const edited = register("prompt_prefix", {
    onChange: ({ target }) => {
      if (!patch.isSaving) patch.reset();
      setBase(base ?? trigger);
      onEdit(target.value);
    },
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit((changes) => {
        sent.current = getValues("prompt_prefix") ?? "";
        patch.save(base ?? trigger, changes);
      })}
      className="flex min-w-0 flex-col gap-2"
    >
      <LeaveGuard isDirty={() => isDirty} withinPage />
      <Field
        label="Prompt prefix"
        hint="Stands before each payload, separated by a blank line."
        error={messageOf(errors.prompt_prefix)}
      >
        <TextArea {...edited} rows={4} readOnly={disabledReason !== undefined} />
      </Field>
      <div className="flex min-h-control-small flex-wrap items-center gap-2">
        <Button
          type="submit"
          size="small"
          pending={patch.isSaving}
          disabled={!isDirty}
          disabledReason={disabledReason}
        >
          Save prefix
        </Button>
        {isDirty && !patch.isSaving ? (
          <Button size="small" variant="quiet" onClick={() => show(trigger.prompt_prefix)}>
            Discard
          </Button>
        ) : null}
        <span role="status" className="text-dense text-moss">
          {patch.isSaved && !isDirty ? "Saved" : ""}
        </span>
      </div>
      <FormError error={patch.error} />
      {patch.dialog}
    </form>
  );
}
