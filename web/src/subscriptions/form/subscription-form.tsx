import type { Subscription } from "@beckon/client";
import type { UseMutationResult } from "@tanstack/react-query";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useEffect, useEffectEvent, useState } from "react";
import { useForm } from "react-hook-form";
import { failureOf, fieldErrorOf, messageOf } from "../../data/index.ts";
import { AllowAddress } from "../../providers/index.ts";
import { Button, Field, FormDialog, FormError, TextInput } from "../../ui/index.ts";
import { ConditionFields } from "./condition-fields.tsx";
import { EventsField } from "./events-field.tsx";
import { HeadersField } from "./headers-field.tsx";
import { PayloadFields } from "./payload-fields.tsx";
import { SigningSecretField } from "./signing-secret-field.tsx";
import {
  hasOtherOrigin,
  resolverFor,
  type SubscriptionFields,
  type SubscriptionFormState,
  sources,
} from "./subscription-fields.ts";

interface SubscriptionFormProps {
  readonly title: string;
  readonly submitLabel: string;
  readonly pendingText: string;
  /** What to do if the response was lost. */
  readonly retry: string;
  /** The subscription to change; undefined for a new one. */
  readonly existing?: Subscription;
  readonly initial: SubscriptionFields;
  readonly save: Pick<
    UseMutationResult<unknown, Error, SubscriptionFields>,
    "isPending" | "error"
  > & { readonly mutate: (fields: SubscriptionFields) => void };
  /** Whether the server has saved the fields. */
  readonly isSaved: boolean;
  readonly close: () => void;
}

/** The form of a new or existing subscription. Most people fill in only the URL. */
export function SubscriptionForm({
  title,
  existing,
  initial,
  save,
  ...rest
}: SubscriptionFormProps) {
  const { submitLabel, pendingText, retry, isSaved, close } = rest;
  const form = useForm<SubscriptionFields>({
    resolver: resolverFor(existing),
    mode: "onTouched",
    defaultValues: initial,
  });
  const { register, handleSubmit, setError, watch, formState } = form;
  const { errors, isDirty } = formState;
  const isElsewhere = existing !== undefined && hasOtherOrigin(existing.url, watch("url"));
  // The error of a save after a merge comes from another mutation than that of this form, so the
  // fields show `save.error` and not the error that `mutate` reports.
  const { error } = save;
  const fieldError = error === null ? undefined : fieldErrorOf(error, sources);
  const showAtField = useEffectEvent(() => {
    if (fieldError === undefined) return;
    setError(fieldError.field, { message: fieldError.message }, { shouldFocus: true });
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: shows each error once
  useEffect(() => showAtField(), [error]);
  const urlError = messageOf(errors.url);
  return (
    <FormDialog
      title={title}
      size="large"
      isDirty={() => isDirty}
      isSaved={isSaved}
      close={close}
      onSubmit={handleSubmit((fields) => save.mutate(fields))}
      submit={{
        label: submitLabel,
        pending: save.isPending,
        pendingText,
        disabled: existing !== undefined && !isDirty,
      }}
    >
      <div className="flex flex-col gap-6">
        <div className="flex flex-col gap-4">
          <Field
            label="URL"
            error={urlError}
            hint="Your server, as Beckon's machine reaches it. Beckon posts each event to it."
          >
            <TextInput
              {...register("url")}
              mono
              inputMode="url"
              autoComplete="off"
              spellCheck={false}
              placeholder="https://example.com/beckon"
              autoFocus
            />
          </Field>
          <AllowAddress message={urlError} />
          {isElsewhere ? <SigningSecretField form={form} isNew={false} /> : null}
          <Field
            label="Description"
            optional
            error={messageOf(errors.description)}
            hint="What it is for. Only people see it."
          >
            <TextInput {...register("description")} autoComplete="off" dir="auto" />
          </Field>
        </div>
        <EventsField form={form} />
        <ConditionFields form={form} />
        <More form={form} existing={existing} mustReplace={isElsewhere} />
        <FormError
          error={
            error !== null && fieldError === undefined
              ? failureOf(error, "the subscription was saved", retry)
              : undefined
          }
        />
      </div>
    </FormDialog>
  );
}

interface MoreProps {
  readonly form: SubscriptionFormState;
  readonly existing: Subscription | undefined;
  /** Whether the stored headers must be entered again. */
  readonly mustReplace: boolean;
}

/**
 * Settings that few people change. The section opens automatically if one of them is wrong or
 * needed.
 */
function More({ form, existing, mustReplace }: MoreProps) {
  const { errors } = form.formState;
  const [wasOpened, setOpened] = useState(false);
  const hasHeaders = (existing?.header_names.length ?? 0) > 0;
  const isNeeded =
    errors.headers !== undefined ||
    (existing === undefined && errors.secret !== undefined) ||
    (mustReplace && hasHeaders);
  const isOpen = wasOpened || isNeeded;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex">
        <Button
          size="small"
          variant="quiet"
          icon={isOpen ? ChevronDown : ChevronRight}
          aria-expanded={isOpen}
          onClick={() => setOpened(!isOpen)}
        >
          {existing === undefined ? "Payload, secret and headers" : "Payload and headers"}
        </Button>
      </div>
      {isOpen ? (
        <>
          <PayloadFields form={form} />
          {existing === undefined ? <SigningSecretField form={form} isNew /> : null}
          <HeadersField
            form={form}
            stored={existing?.header_names ?? []}
            mustReplace={mustReplace}
          />
        </>
      ) : null}
    </div>
  );
}
