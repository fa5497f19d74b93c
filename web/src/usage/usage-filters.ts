import { type AgentName, agentFilter } from "../runs/index.ts";
import type { FilterDefinition } from "../ui/index.ts";

/**
 * Returns the definitions of the usage filters. Their ids are the names of the API's parameters.
 * @param agents the agents by id
 * @param canReadAgents whether agents can be found by their names
 */
export function usageFilters(
  agents: ReadonlyMap<string, AgentName>,
  canReadAgents: boolean,
): readonly FilterDefinition[] {
  return [
    agentFilter(agents, canReadAgents),
    { id: "model", label: "Model", placeholder: "provider/model" },
    { id: "caller", label: "Caller", placeholder: "key:key_…, trigger:trg_…" },
    { id: "tag", label: "Tag", placeholder: "A tag of runs" },
  ];
}
