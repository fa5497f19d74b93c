import { defaultWorkspaceId, type Membership } from "../data/index.ts";

/** Returns the id of the workspace in which the person can create others; undefined if in none. */
export function creatingWorkspace(workspaces: readonly Membership[]): string | undefined {
  return workspaces.find(
    ({ id, scopes }) => id === defaultWorkspaceId && scopes.includes("workspaces:own"),
  )?.id;
}
