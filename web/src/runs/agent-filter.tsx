import { AgentPicker } from "../agents/index.ts";
import { shortenId } from "../format/index.ts";
import { type FilterDefinition, FilterText } from "../ui/index.ts";
import type { AgentName } from "./agent-names.ts";

const byId: FilterDefinition = { id: "agent_id", label: "Agent", placeholder: "agt_…" };
/** For agents that the list does not have, because they were deleted. */
const deleted: FilterDefinition = { ...byId, label: "Agent id", placeholder: "Or its id, agt_…" };

/**
 * Returns the filter by an agent, whose id is the name of the API's parameter.
 * @param agents names for the chip. An agent that has none is shown by its id.
 * @param canReadAgents whether agents can be found by their names
 */
export function agentFilter(
  agents: ReadonlyMap<string, AgentName>,
  canReadAgents: boolean,
): FilterDefinition {
  return {
    ...byId,
    display: (id) => agents.get(id)?.name ?? shortenId(id),
    ...(canReadAgents && {
      editor: (value, choose) => (
        <div className="flex w-72 flex-col">
          <AgentPicker value={value} onChoose={({ id }) => choose(id)} />
          <FilterText filter={deleted} value={agents.has(value) ? "" : value} onChoose={choose} />
        </div>
      ),
    }),
  };
}
