import type { Trigger } from "@beckon/client";
import { createTriggerBody } from "@beckon/contract";
import { zodResolver } from "@hookform/resolvers/zod";
import { useEffect, useEffectEvent, useRef } from "react";
import { useForm } from "react-hook-form";
import { failureOf, fillIn, messageOf, useWorkspace, wording } from "../../data/index.ts";
import { withLineFeeds } from "../../format/index.ts";
import { Button, Field, FormError, LeaveGuard, TextArea } from "../../ui/index.ts";
import { useTriggerPatch } from "../trigger/use-trigger-patch.tsx";

/** A prefix that is not saved. */
export interface TypedPrefix {
  readonly prefix: string;
  /** The trigger as it was before the first change. */
  readonly base: Trigger;
}

interface PrefixFormProps {
  readonly trigger: Trigger;
  /** What was typed before the page was reloaded, or since; null while nothing is changed. */
  readonly typed: TypedPrefix | null;
  /** Called with what is typed, and with null once it is saved or discarded. */
  readonly onEdit: (typed: TypedPrefix | null) => void;
}

const fields = createTriggerBody.pick({ prompt_prefix: true });

interface Prefix {
  readonly prompt_prefix?: string | undefined;
}

const valuesOf = ({ prompt_prefix }: Trigger) => ({ prompt_prefix: withLineFeeds(prompt_prefix) });

/** The form for the prompt prefix, which is put before each payload. */
export function PrefixForm({ trigger, typed, onEdit }: PrefixFormProps) {
  const { whyNot } = useWorkspace();
  const form = useForm({
    resolver: zodResolver(fields, { error: wording }),
    mode: "onTouched",
    defaultValues: valuesOf(trigger),
    // If somebody else saves the prefix, the field shows their prefix, unless it was edited here.
    values: valuesOf(trigger),
    resetOptions: { keepDirtyValues: true },
  });
  const { register, handleSubmit, getValues, setValue, formState } = form;
  const { isDirty, errors } = formState;
  const restore = useEffectEvent(() => {
    if (typed !== null) setValue("prompt_prefix", typed.prefix, { shouldDirty: true });
  });
  const forget = useEffectEvent(() => onEdit(null));
  useEffect(() => {
    restore();
    // A page with an unsaved prefix is left only after a question.
    return () => forget();
  }, []);
  /**
   * Fills in the saved prefix. If the person has edited the field since `sent` was submitted, keeps
   * the edit; without `sent`, discards all edits.
   */
  const show = (saved: Trigger, sent?: Prefix) => {
    const values = valuesOf(saved);
    fillIn(form, values, sent);
    const prefix = getValues("prompt_prefix") ?? "";
    onEdit(prefix === values.prompt_prefix ? null : { prefix, base: saved });
  };
  /** The values of the form when it was last sent. */
  const sent = useRef<Prefix>(undefined);
  const patch = useTriggerPatch(trigger, { onSaved: (saved) => show(saved, sent.current) });
  const disabledReason = whyNot("triggers:write");
  const edited = register("prompt_prefix", {
    onChange: ({ target }) => {
      if (!patch.isSaving) patch.reset();
      const base = typed?.base ?? trigger;
      // During a save, an undone edit is kept, because it differs from what was sent.
      const isUndone = !patch.isSaving && target.value === valuesOf(base).prompt_prefix;
      onEdit(isUndone ? null : { prefix: target.value, base });
    },
  });
  return (
    <form
      noValidate
      onSubmit={handleSubmit((changes) => {
        sent.current = getValues();
        patch.save(typed?.base ?? trigger, changes);
      })}
      className="flex min-w-0 flex-col gap-2"
    >
      <LeaveGuard isDirty={() => isDirty} withinPage />
      <Field
        label="Prompt prefix"
        hint="Added before each payload, separated by a blank line."
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
          <Button size="small" variant="quiet" onClick={() => show(trigger)}>
            Discard
          </Button>
        ) : null}
        <span role="status" className="text-dense text-moss">
          {patch.isSaved && !isDirty ? "Saved" : ""}
        </span>
      </div>
      {patch.error === null ? null : (
        <FormError
          error={failureOf(
            patch.error,
            "the prefix was saved",
            "Press Save prefix again: saving it twice does no harm.",
          )}
        />
      )}
      {patch.dialog}
    </form>
  );
}
