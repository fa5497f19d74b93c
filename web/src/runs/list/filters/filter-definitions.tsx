import { shortenId } from "../../../format/index.ts";
import type { FilterDefinition } from "../../../ui/index.ts";
import { agentFilter } from "../../agent-filter.tsx";
import type { AgentName } from "../../agent-names.ts";
import { sourceLabel } from "../../source-label.ts";
import { CreatedEditor } from "./created-editor.tsx";
import { wordsOf } from "./created-range.ts";
import { sources, statuses } from "./run-filters.ts";

interface Surroundings {
  /** Names of filters that people cannot set on this screen. */
  readonly without: readonly string[];
  readonly agents: ReadonlyMap<string, AgentName>;
  readonly canReadAgents: boolean;
  readonly zone: string;
}

const optionOf = (value: string, label: string) => ({ value, label });
const capitalise = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns the filters of a list of runs. */
export function filterDefinitions(surroundings: Surroundings): readonly FilterDefinition[] {
  const { without, agents, canReadAgents, zone } = surroundings;
  const definitions: readonly FilterDefinition[] = [
    {
      id: "status",
      label: "State",
      options: statuses.map((status) => optionOf(status, capitalise(status))),
      multiple: true,
    },
    agentFilter(agents, canReadAgents),
    {
      id: "source",
      label: "Source",
      options: sources.map((source) => optionOf(source, sourceLabel(source))),
      multiple: true,
    },
    { id: "error", label: "Error has", placeholder: "Part of its code or message" },
    { id: "text", label: "Text", placeholder: "Part of the input or output" },
    {
      id: "created",
      label: "Created",
      display: (range) => wordsOf(range, Date.now(), zone),
      editor: (value, choose) => <CreatedEditor value={value} onChoose={choose} />,
    },
    { id: "external_id", label: "External id", placeholder: "Your own id of the run" },
    { id: "tag", label: "Tag", placeholder: "One of the run's tags" },
    { id: "trigger_id", label: "Trigger", placeholder: "trg_…", display: (id) => shortenId(id) },
  ];
  return definitions.filter(({ id }) => !without.includes(id));
}
