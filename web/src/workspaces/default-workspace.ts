import type { Membership } from "../data/index.ts";

/** Id of the workspace `default` in every installation. Only its owners create workspaces. */
const defaultWorkspaceId = "wsp_00000000000000000000000000";

/** Returns the id of the workspace in which the person can create others; undefined if in none. */
export function creatingWorkspace(workspaces: readonly Membership[]): string | undefined {
  return workspaces.find(
    ({ id, scopes }) => id === defaultWorkspaceId && scopes.includes("workspaces:own"),
  )?.id;
}
