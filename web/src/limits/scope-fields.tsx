import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useWorkspace } from "../data/index.ts";
import { Field, Select } from "../ui/index.ts";
import { agentsToLimitQuery, keysToLimitQuery, triggersToLimitQuery } from "./queries.ts";
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

interface ThingFieldProps extends ChoiceProps {
  readonly scope: CeilingScope;
  readonly things: readonly { readonly id: string; readonly name: string }[] | undefined;
}

function ThingField({ scope, things, value, onChange, error }: ThingFieldProps) {
  const label = scopeLabels[scope];
  const isEmpty = things?.length === 0;
  return (
    <Field
      label={label}
      error={error}
      hint={isEmpty ? `There is no ${scope} to choose.` : undefined}
    >
      <Select
        value={value}
        onChange={({ target }) => onChange(target.value)}
        placeholder={`Choose ${scope === "agent" ? "an" : "a"} ${scope}`}
        options={(things ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </Field>
  );
}

function AgentField(props: ChoiceProps) {
  const { data } = useQuery(agentsToLimitQuery(useWorkspace()));
  return <ThingField scope="agent" things={data} {...props} />;
}

function KeyField(props: ChoiceProps) {
  const { data } = useQuery(keysToLimitQuery(useWorkspace()));
  return <ThingField scope="key" things={data} {...props} />;
}

function TriggerFields({ value, onChange, error }: ChoiceProps) {
  const [agentId, setAgentId] = useState("");
  const { data } = useQuery(triggersToLimitQuery(useWorkspace(), agentId));
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
        <ThingField scope="trigger" things={data} value={value} onChange={onChange} error={error} />
      )}
    </>
  );
}
