import { defaultWorkspaceId, type Membership } from "../data/index.ts";

/**
 * Returns the id of the workspace that permits the person to create workspaces; undefined if none
 * does.
 */
export function creatingWorkspace(workspaces: readonly Membership[]): string | undefined {
  return workspaces.find(
    ({ id, scopes }) => id === defaultWorkspaceId && scopes.includes("workspaces:own"),
  )?.id;
}
