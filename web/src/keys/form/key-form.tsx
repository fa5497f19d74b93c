import type { UseMutationResult } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { failureOf, fieldErrorOf, messageOf } from "../../data/index.ts";
import { Field, FormDialog, FormError, TextInput } from "../../ui/index.ts";
import { type Preset, presetTexts } from "../scopes.ts";
import { AgentsField } from "./agents-field.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { GrantField } from "./grant-field.tsx";
import { type KeyFields, keyResolver, sources } from "./key-fields.ts";

interface KeyFormProps {
  readonly title: string;
  readonly description?: string;
  readonly submitLabel: string;
  readonly pendingText: string;
  /** Says what to do if the response was lost. */
  readonly retry: string;
  readonly initial: KeyFields;
  /** Expiry of a key that exists; null if it never expires, undefined for a new key. */
  readonly expiresAt?: string | null;
  readonly save: UseMutationResult<unknown, Error, KeyFields>;
  readonly close: () => void;
}

/** The form for a new key or an existing one. */
export function KeyForm({ title, description, initial, expiresAt, save, ...rest }: KeyFormProps) {
  const { submitLabel, pendingText, retry, close } = rest;
  const form = useForm<KeyFields>({
    resolver: keyResolver,
    mode: "onTouched",
    defaultValues: initial,
  });
  const { register, handleSubmit, setError, setValue, getFieldState, formState } = form;
  const { errors, isDirty } = formState;
  const isNew = expiresAt === undefined;
  // The response is the only copy of a new key's secret, so the page is not left without a question
  // before it arrives.
  const isIssuing = isNew && save.isPending;
  const nameAfter = (preset: Preset) => {
    // The name follows the chosen preset until the person types a name.
    if (!isNew || getFieldState("name").isTouched) return;
    setValue("name", `${presetTexts[preset].label} key`);
  };
  const submit = handleSubmit((fields) =>
    save.mutate(fields, {
      onError: (thrown) => {
        const error = fieldErrorOf(thrown, sources);
        if (error !== undefined)
          setError(error.field, { message: error.message }, { shouldFocus: true });
      },
    }),
  );
  return (
    <FormDialog
      title={title}
      description={description}
      isDirty={() => isDirty || isIssuing}
      isSaved={save.isSuccess}
      close={close}
      onSubmit={submit}
      submit={{
        label: submitLabel,
        pending: save.isPending,
        pendingText,
        disabled: !isNew && !isDirty,
      }}
    >
      <div className="flex flex-col gap-5">
        <GrantField form={form} onChoose={nameAfter} />
        <Field
          label="Name"
          error={messageOf(errors.name)}
          hint="Where it is used, for example Shop."
        >
          <TextInput {...register("name")} autoComplete="off" dir="auto" />
        </Field>
        <AgentsField form={form} />
        <ExpiryField form={form} expiresAt={expiresAt} />
        <FormError
          error={
            save.isError && fieldErrorOf(save.error, sources) === undefined
              ? failureOf(save.error, "the key was saved", retry)
              : undefined
          }
        />
      </div>
    </FormDialog>
  );
}
