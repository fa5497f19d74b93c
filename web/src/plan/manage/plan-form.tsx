import type { Plan } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  announceChanges,
  announceIfOutdated,
  changesOf,
  failureOf,
  useIdempotencyKey,
  useWorkspace,
} from "../../data/index.ts";
import { Field, FormDialog, FormError, TextInput, useToast } from "../../ui/index.ts";
import { planKey, plansKey } from "../queries.ts";
import { type Allowances, fieldsOf, type PlanFields, readFields } from "./plan-fields.ts";

interface PlanFormProps {
  /** The plan to change; undefined for a new one. */
  readonly plan?: Plan | undefined;
  readonly close: () => void;
}

interface Amount {
  readonly name: keyof PlanFields;
  readonly label: string;
  readonly unit: string;
  readonly hint?: string;
}

const amounts: readonly Amount[] = [
  { name: "tokens", label: "Tokens", unit: "tokens" },
  { name: "voiceSeconds", label: "Voice", unit: "seconds", hint: "Not used yet." },
  { name: "browserSeconds", label: "Browser", unit: "seconds", hint: "Not used yet." },
  { name: "dollars", label: "Cost", unit: "dollars" },
];

/** The form that creates a plan or changes its allowances. */
export function PlanForm({ plan, close }: PlanFormProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { keyOf } = useIdempotencyKey();
  // `plan` changes if somebody else saves it. The form compares with the plan that it was opened
  // with: otherwise allowances that this person did not edit would be sent with their old values.
  const [base] = useState(plan);
  const [initial] = useState(() => fieldsOf(base));
  const [fields, setFields] = useState(initial);
  const [isTouched, setTouched] = useState(false);
  const read = readFields(fields);
  const errors = isTouched && "errors" in read ? read.errors : {};
  const set = (name: keyof PlanFields) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const save = useMutation({
    mutationFn: (allowances: Allowances) => {
      if (base !== undefined && base.id !== null)
        return client.plans.update(base.id, changesOf(base, allowances));
      const body = { name: fields.name, ...allowances };
      return client.plans.create(body, { idempotencyKey: keyOf(body) });
    },
    onSuccess: ({ name }) => {
      toast({ tone: "success", title: `Saved the plan ${name}` });
      void announceChanges(queryClient, plansKey(workspaceId), planKey(workspaceId));
    },
    onError: (thrown) =>
      void announceIfOutdated(queryClient, thrown, plansKey(workspaceId), planKey(workspaceId)),
  });
  return (
    <FormDialog
      isDirty={() => JSON.stringify(fields) !== JSON.stringify(initial)}
      isSaved={save.isSuccess}
      close={close}
      size="small"
      title={plan === undefined ? "New plan" : `Plan ${plan.name}`}
      description={
        plan === undefined
          ? "What a workspace can use a month. What is left empty is unlimited."
          : "Applies at once to all workspaces on it. What is left empty is unlimited."
      }
      onSubmit={() => {
        setTouched(true);
        if ("allowances" in read) save.mutate(read.allowances);
      }}
      submit={{
        label: plan === undefined ? "Create plan" : "Save plan",
        pending: save.isPending,
      }}
    >
      {plan === undefined ? (
        <Field
          label="Name"
          hint="It cannot be changed later, for example team."
          error={errors.name}
        >
          <TextInput value={fields.name} onChange={set("name")} autoComplete="off" autoFocus />
        </Field>
      ) : null}
      {amounts.map(({ name, label, unit, hint }) => (
        <Field key={name} label={label} optional hint={hint} error={errors[name]}>
          <TextInput
            value={fields[name]}
            onChange={set(name)}
            inputMode={name === "tokens" ? "numeric" : "decimal"}
            autoComplete="off"
            suffix={<span className="pr-1">{unit}</span>}
          />
        </Field>
      ))}
      <FormError
        error={
          save.isError
            ? failureOf(
                save.error,
                "the plan was saved",
                plan === undefined
                  ? "Press Create plan again without changes: it is created once only."
                  : "Press Save plan again: saving it twice does no harm.",
              )
            : undefined
        }
      />
    </FormDialog>
  );
}
