import { queryOptions } from "@tanstack/react-query";
import type { CurrentWorkspace } from "../../data/index.ts";
import { agentsKey } from "../queries.ts";

/** The newest agent; null if there is none. */
export const newestAgentQuery = ({ id, client }: CurrentWorkspace) =>
  queryOptions({
    queryKey: [...agentsKey(id), "newest"],
    queryFn: async ({ signal }) =>
      (await client.agents.list({ limit: 1 }, { signal }).page()).data[0] ?? null,
  });
