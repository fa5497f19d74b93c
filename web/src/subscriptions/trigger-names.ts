import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../data/index.ts";

/** The triggers of an agent, at most 200. Nothing is read for an empty id. */
export const triggersOfAgentQuery = ({ id, client, can }: CurrentWorkspace, agentId: string) =>
  queryOptions({
    queryKey: [id, "triggers", agentId, "to choose"],
    queryFn: async ({ signal }) =>
      (await client.triggers.list(agentId, { limit: 200 }, { signal }).page()).data,
    enabled: agentId !== "" && can("triggers:read"),
  });
