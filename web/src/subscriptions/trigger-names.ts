import { type CurrentWorkspace, listOptions } from "../data/index.ts";

/** The triggers of an agent, to choose from. */
export const triggersOfAgentQuery = ({ id, client }: CurrentWorkspace, agentId: string) =>
  listOptions([id, "triggers", agentId, "to choose"], (page, options) =>
    client.triggers.list(agentId, { ...page, limit: 200 }, options),
  );
