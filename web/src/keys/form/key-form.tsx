import type { UseMutationResult } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { failureOf, fieldNamed, messageOf, sentenceOf } from "../../data/index.ts";
import { Button, Field, FormDialog, FormError, TextInput } from "../../ui/index.ts";
import { presetTexts } from "../scopes.ts";
import { AgentsField } from "./agents-field.tsx";
import { ExpiryField } from "./expiry-field.tsx";
import { GrantField } from "./grant-field.tsx";
import { apiFields, type KeyFields, keyResolver, sourceOf } from "./key-fields.ts";

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
  // The response is the only copy of a new key's secret, so the dialog cannot be closed before it
  // arrives.
  const isIssuing = isNew && save.isPending;
  const nameAfter = (grant: KeyFields["grant"]) => {
    // The name follows the chosen preset until the person types a name.
    if (!isNew || getFieldState("name").isTouched || grant === "scopes") return;
    setValue("name", `${presetTexts[grant].label} key`);
  };
  const submit = handleSubmit((fields) =>
    save.mutate(fields, {
      onError: (thrown) => {
        const field = sourceOf(fieldNamed(thrown, apiFields));
        const message = sentenceOf(thrown).replace(/^\w+: ?/, "");
        if (field !== undefined) setError(field, { message }, { shouldFocus: true });
      },
    }),
  );
  return (
    <FormDialog
      title={title}
      description={description}
      isDirty={() => isDirty || isIssuing}
      isSaved={save.isSuccess}
      dismissible={!isIssuing}
      close={close}
      footer={(leave) => (
        <>
          <Button onClick={leave} disabled={isIssuing}>
            Cancel
          </Button>
          <Button
            type="submit"
            form="api-key"
            variant="primary"
            pending={save.isPending}
            pendingText={pendingText}
            disabled={!isNew && !isDirty}
          >
            {submitLabel}
          </Button>
        </>
      )}
    >
      <form id="api-key" noValidate onSubmit={submit} className="flex flex-col gap-5">
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
            save.isError && sourceOf(fieldNamed(save.error, apiFields)) === undefined
              ? failureOf(save.error, "the key was saved", retry)
              : undefined
          }
        />
      </form>
    </FormDialog>
  );
}
