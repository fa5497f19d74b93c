import { useState } from "react";
import { useList, useWorkspace } from "../../data/index.ts";
import { shortenId } from "../../format/index.ts";
import {
  Checkbox,
  FieldError,
  LoadMore,
  RemovableList,
  RowsProblem,
  ScrollRegion,
  SearchField,
  useFocusOnError,
} from "../../ui/index.ts";
import { choosableAgentsQuery } from "../queries.ts";

interface AgentChoiceProps {
  /** Accessible name of the group: "Agents of the key". */
  readonly label: string;
  /** Ids of the chosen agents. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly error: string | undefined;
  /**
   * Number of times the form was submitted. After a submission with an invalid choice, the first
   * checkbox gets the focus. Pass 0 while a field above the checkboxes has an error, because that
   * field then gets the focus.
   */
  readonly submitCount: number;
}

/** From this number of agents on, the list can be searched. */
const searchedFrom = 9;

/** The agents of the workspace with checkboxes, to choose some of them. */
export function AgentChoice({ label, chosen, onChange, error, submitCount }: AgentChoiceProps) {
  const [text, setText] = useState("");
  // Always refetched: an old list would show a new agent among `chosen` as deleted.
  const agents = useList({ ...choosableAgentsQuery(useWorkspace()), staleTime: 0 });
  const choice = useFocusOnError(error, submitCount);
  const shown = agents.rows.filter(({ name }) =>
    name.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  const isLoaded = agents.data !== undefined;
  // Once all agents are loaded, chosen ones that are not among them must have been deleted.
  const deleted =
    isLoaded && !agents.hasNextPage
      ? chosen.filter((id) => agents.rows.every((agent) => agent.id !== id))
      : [];
  const problem = <RowsProblem label="Agents" query={agents} hasRows={isLoaded} padding="none" />;
  if (agents.error !== null && !isLoaded) return problem;
  return (
    <fieldset ref={choice} className="flex min-w-0 flex-col gap-2" aria-describedby="agents-error">
      <legend className="sr-only">{label}</legend>
      <FieldError id="agents-error" message={error} isAnnounced />
      {problem}
      {agents.rows.length < searchedFrom ? null : (
        <SearchField
          label="Search agents"
          placeholder="Search agents"
          value={text}
          onChange={setText}
        />
      )}
      <div className="rounded-control border border-rule">
        <ScrollRegion label="Agents" variant="bounded">
          <div className="flex flex-col gap-2 p-3">
            {shown.map((agent) => (
              <Checkbox
                key={agent.id}
                label={agent.name}
                checked={chosen.includes(agent.id)}
                onChange={() => toggle(agent.id)}
              />
            ))}
            {shown.length > 0 || agents.isPending ? null : (
              <p className="text-ink-2">
                {agents.rows.length === 0
                  ? "This workspace has no agents yet."
                  : "No agent has this in its name."}
              </p>
            )}
            <LoadMore query={agents} />
          </div>
        </ScrollRegion>
      </div>
      <RemovableList
        label="Chosen agents that were deleted"
        noun="agent"
        ids={deleted}
        nameOf={(id) => `${shortenId(id)} (deleted)`}
        onRemove={toggle}
      />
    </fieldset>
  );
}
