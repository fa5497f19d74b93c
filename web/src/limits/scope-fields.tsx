import { useState } from "react";
import { AgentSelect, choosableTriggersQuery } from "../agents/index.ts";
import { useList, useWorkspace } from "../data/index.ts";
import { Field, LoadMore, RowsProblem, Select } from "../ui/index.ts";
import { keysToLimitQuery } from "./queries.ts";
import { type CeilingScope, scopeLabels, scopeNames } from "./scopes.ts";

/** What a ceiling (a daily spending limit) applies to. `scopeId` is empty until it is chosen. */
export interface ChosenScope {
  readonly scope: CeilingScope;
  readonly scopeId: string;
}

interface ScopeFieldsProps {
  readonly value: ChosenScope;
  readonly onChange: (value: ChosenScope) => void;
  /** Whether the person has tried to submit the form. From then on, missing values are marked. */
  readonly isTouched: boolean;
}

/** The fields with which a person chooses what a ceiling applies to. */
export function ScopeFields({ value, onChange, isTouched }: ScopeFieldsProps) {
  const { id } = useWorkspace();
  const { scope, scopeId } = value;
  const choose = (chosen: string) => onChange({ scope, scopeId: chosen });
  const error = isTouched && scopeId === "" ? "Choose one." : undefined;
  return (
    <>
      <Field label="For">
        <Select
          value={scope}
          onChange={({ target }) => {
            const next = target.value as CeilingScope;
            onChange({ scope: next, scopeId: next === "workspace" ? id : "" });
          }}
          options={scopeNames.map((name) => ({
            value: name,
            label: name === "workspace" ? "The whole workspace" : `One ${name}`,
          }))}
        />
      </Field>
      {scope === "agent" ? <AgentField value={scopeId} onChange={choose} error={error} /> : null}
      {scope === "key" ? <KeyField value={scopeId} onChange={choose} error={error} /> : null}
      {scope === "trigger" ? (
        <TriggerFields value={scopeId} onChange={choose} error={error} />
      ) : null}
    </>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly error: string | undefined;
}

interface ListedFieldProps extends ChoiceProps {
  readonly scope: "key" | "trigger";
  /** The keys or triggers to choose from. */
  readonly list: ReturnType<typeof useList<{ readonly id: string; readonly name: string }>>;
}

function ListedField({ scope, list, value, onChange, error }: ListedFieldProps) {
  const isEmpty = list.isSuccess && list.rows.length === 0 && !list.hasNextPage;
  return (
    <>
      <RowsProblem
        label={`The ${scope}s`}
        query={list}
        hasRows={list.rows.length > 0}
        padding="none"
      />
      <Field
        label={scopeLabels[scope]}
        error={error}
        hint={isEmpty ? `There is no ${scope} to choose.` : undefined}
      >
        <Select
          value={value}
          onChange={({ target }) => onChange(target.value)}
          placeholder={`Choose a ${scope}`}
          options={list.rows.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </Field>
      <LoadMore query={list} />
    </>
  );
}

function AgentField({ value, onChange, error }: ChoiceProps) {
  return (
    <Field label={scopeLabels.agent} error={error}>
      <AgentSelect label={scopeLabels.agent} value={value} onChange={onChange} />
    </Field>
  );
}

function KeyField(props: ChoiceProps) {
  const list = useList(keysToLimitQuery(useWorkspace()));
  return <ListedField scope="key" list={list} {...props} />;
}

function TriggerFields({ value, onChange, error }: ChoiceProps) {
  const [agentId, setAgentId] = useState("");
  return (
    <>
      <AgentField
        value={agentId}
        onChange={(id) => {
          setAgentId(id);
          onChange("");
        }}
        error={agentId === "" ? error : undefined}
      />
      {agentId === "" ? null : (
        <TriggerField agentId={agentId} value={value} onChange={onChange} error={error} />
      )}
    </>
  );
}

function TriggerField({ agentId, ...props }: ChoiceProps & { readonly agentId: string }) {
  const list = useList(choosableTriggersQuery(useWorkspace(), agentId));
  return <ListedField scope="trigger" list={list} {...props} />;
}
