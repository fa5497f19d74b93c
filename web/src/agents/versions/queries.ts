import { queryOptions } from "@tanstack/react-query";
import { type CurrentWorkspace, listOptions } from "../../data/index.ts";
import { agentQuery } from "../queries.ts";

/** The versions of an agent, newest first. */
export const versionsQuery = (workspace: CurrentWorkspace, agentId: string) =>
  listOptions([...agentQuery(workspace, agentId).queryKey, "versions", "list"], (page, options) =>
    workspace.client.versions.list(agentId, page, options),
  );

/** What changed between two versions. */
export const comparisonQuery = (
  workspace: CurrentWorkspace,
  agentId: string,
  { from, to }: { readonly from: number; readonly to: number },
) =>
  queryOptions({
    queryKey: [...agentQuery(workspace, agentId).queryKey, "versions", from, to],
    queryFn: ({ signal }) =>
      workspace.client.versions.compare(agentId, from, { with: to }, { signal }),
  });
