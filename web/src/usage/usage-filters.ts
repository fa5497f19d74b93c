import type { AgentName } from "../runs/index.ts";
import type { FilterDefinition } from "../ui/index.ts";

/**
 * Returns the definitions of the usage filters. Their ids are the names of the API's parameters.
 * @param agents the agents by id. If there are none, the filter takes an agent's id as a text.
 */
export function usageFilters(agents: ReadonlyMap<string, AgentName>): readonly FilterDefinition[] {
  const agent = { id: "agent_id", label: "Agent" };
  return [
    agents.size === 0
      ? { ...agent, placeholder: "Its id, agt_…" }
      : { ...agent, options: [...agents].map(([value, { name }]) => ({ value, label: name })) },
    { id: "model", label: "Model", placeholder: "provider/model" },
    { id: "caller", label: "Caller", placeholder: "key:key_…, trigger:trg_…" },
    { id: "tag", label: "Tag", placeholder: "A tag of runs" },
  ];
}
