import { useState } from "react";
import { AgentSelect, choosableAgentsQuery, choosableTriggersQuery } from "../../agents/index.ts";
import { useList, useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import {
  Checkbox,
  Field,
  FieldError,
  LoadMore,
  RemovableList,
  RowsProblem,
  useFocusOnError,
} from "../../ui/index.ts";

interface TriggerChoiceProps {
  /** Ids of the chosen triggers. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly error: string | undefined;
  readonly submitCount: number;
}

/** A choice of triggers. Triggers belong to agents, so an agent is chosen first. */
export function TriggerChoice({ chosen, onChange, error, submitCount }: TriggerChoiceProps) {
  const workspace = useWorkspace();
  const [agentId, setAgentId] = useState("");
  const agents = useList(choosableAgentsQuery(workspace));
  const shownAgent = agentId || (agents.rows.length === 1 ? (agents.rows[0]?.id ?? "") : "");
  const list = useList({
    ...choosableTriggersQuery(workspace, shownAgent),
    enabled: shownAgent !== "",
  });
  const triggers = list.rows;
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const group = useFocusOnError(error, submitCount);
  const nameOf = (id: string) =>
    triggers.find((trigger) => trigger.id === id)?.name ?? names.get(id) ?? shortenId(id);
  const toggle = (id: string) => {
    setNames(new Map([...names, [id, nameOf(id)]]));
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  };
  // Chosen triggers of other agents. Only the triggers of the selected agent have checkboxes.
  const others = chosen.filter((id) => triggers.every((trigger) => trigger.id !== id));
  return (
    <fieldset
      ref={group}
      className="flex min-w-0 flex-col gap-3 rounded-control border border-rule p-3"
      aria-describedby="triggers-error"
    >
      <legend className="sr-only">Triggers of the subscription</legend>
      <FieldError id="triggers-error" message={error} isAnnounced />
      <Field label="Triggers of the agent">
        <AgentSelect label="Triggers of the agent" value={shownAgent} onChange={setAgentId} />
      </Field>
      <RowsProblem label="Triggers" query={list} hasRows={triggers.length > 0} padding="none" />
      {triggers.map((trigger) => (
        <Checkbox
          key={trigger.id}
          label={trigger.name}
          checked={chosen.includes(trigger.id)}
          onChange={() => toggle(trigger.id)}
        />
      ))}
      <LoadMore query={list} />
      {list.isSuccess && triggers.length === 0 && !list.hasNextPage ? (
        <p className="text-ink-2">This agent has no triggers.</p>
      ) : null}
      <RemovableList
        label="Chosen triggers of other agents"
        noun="trigger"
        ids={others}
        nameOf={nameOf}
        onRemove={toggle}
      />
    </fieldset>
  );
}
