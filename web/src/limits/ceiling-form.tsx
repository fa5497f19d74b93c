import type { Ceiling } from "@beckon/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { agentsKey } from "../agents/index.ts";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { formatPrice, readDollars, writeDollars } from "../format/index.ts";
import {
  Banner,
  Checkbox,
  Field,
  FormDialog,
  FormError,
  Problem,
  TextInput,
  useToast,
} from "../ui/index.ts";
import { ceilingsKey } from "./queries.ts";
import { type ChosenScope, ScopeFields } from "./scope-fields.tsx";
import { reasonUnchangeable, scopeWords } from "./scopes.ts";
import { useCeiling } from "./use-ceiling.ts";

interface CeilingFormProps {
  /** The ceilings that the list has loaded. */
  readonly rows: readonly Ceiling[];
  /** The ceiling to change; undefined for a new one. */
  readonly ceiling?: Ceiling | undefined;
  /**
   * What a new ceiling applies to, if the link that opened the form names it. Default: the
   * workspace.
   */
  readonly initial?: ChosenScope | undefined;
  readonly close: () => void;
}

/** The form that creates a ceiling (a daily spending limit) or changes its amount. */
export function CeilingForm({ rows, ceiling, initial, close }: CeilingFormProps) {
  const { id, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [chosen, setChosen] = useState<ChosenScope>(
    ceiling === undefined
      ? (initial ?? { scope: "workspace", scopeId: id })
      : { scope: ceiling.scope, scopeId: ceiling.scope_id },
  );
  // A new ceiling can be for a scope that already has one, which the request would overwrite.
  const existing = useCeiling(rows, chosen);
  const current = ceiling ?? existing.ceiling;
  const currentMicros = current?.limit_micros;
  // Undefined until the person edits the field. Until then, the form shows and saves the value of
  // `current`. A request sets both fields, so values from when the form was opened would undo a
  // change by somebody else.
  const [typed, setTyped] = useState<string>();
  const [toggled, setToggled] = useState<boolean>();
  const dollars = typed ?? (currentMicros === undefined ? "" : writeDollars(currentMicros));
  const pauses = toggled ?? current?.pauses_agent ?? false;
  const [isTouched, setTouched] = useState(false);
  const amount = readDollars(dollars);
  const save = useMutation({
    mutationFn: (limit_micros: number) =>
      client.limits.set(chosen.scope, chosen.scopeId, {
        limit_micros,
        pauses_agent: chosen.scope === "agent" && pauses,
      }),
    onSuccess: (saved) => {
      toast({ tone: "success", title: `Set the ceiling of ${scopeWords(saved)}` });
      // The ceiling of an agent can pause it.
      void announceChanges(queryClient, ceilingsKey(id), agentsKey(id));
    },
    onError: (thrown) =>
      void announceIfOutdated(queryClient, thrown, ceilingsKey(id), agentsKey(id)),
  });
  const isDirty =
    currentMicros === undefined
      ? dollars !== ""
      : amount.micros !== currentMicros || pauses !== current?.pauses_agent;
  return (
    <FormDialog
      isDirty={() => isDirty}
      isSaved={save.isSuccess}
      close={close}
      size="small"
      title={ceiling === undefined ? "New ceiling" : `Ceiling of ${scopeWords(ceiling)}`}
      description="What runs can cost a day. What was spent today counts."
      onSubmit={() => {
        setTouched(true);
        if (amount.micros !== undefined && current !== undefined) save.mutate(amount.micros);
      }}
      submit={{
        label: "Set ceiling",
        pending: save.isPending,
        pendingText: "Setting…",
        disabled: chosen.scopeId !== "" && current === undefined,
        disabledReason: current ? reasonUnchangeable(current) : undefined,
      }}
    >
      {ceiling === undefined ? (
        <>
          <ScopeFields value={chosen} onChange={setChosen} isTouched={isTouched} />
          {currentMicros !== undefined ? (
            <Banner>
              {`This ${chosen.scope} already has a ceiling of ${formatPrice(currentMicros)}, which you change here.`}
            </Banner>
          ) : current === undefined && existing.error !== null ? (
            <Problem
              error={existing.error}
              title="The ceiling could not be loaded."
              onRetry={existing.refetch}
            />
          ) : null}
        </>
      ) : null}
      <Field
        label="Maximum cost of runs a day"
        hint="With 0, no call is made that costs money."
        error={isTouched ? amount.error : undefined}
      >
        <TextInput
          value={dollars}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => setTouched((typed ?? "") !== "")}
          inputMode="decimal"
          autoComplete="off"
          suffix={<span className="pr-1">dollars</span>}
          autoFocus
        />
      </Field>
      {chosen.scope === "agent" ? (
        <Checkbox
          label="Pause the agent when the ceiling is reached"
          hint="Starts are then rejected until the ceiling resets or is raised."
          checked={pauses}
          onChange={(event) => setToggled(event.target.checked)}
        />
      ) : null}
      <FormError error={save.error} />
    </FormDialog>
  );
}
