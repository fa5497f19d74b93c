import { defaultWorkspaceId, type Membership } from "../data/index.ts";

/**
 * Returns the id of the default workspace if the person can create workspaces, which only owners of
 * the default workspace can; otherwise undefined.
 */
export function creatingWorkspace(workspaces: readonly Membership[]): string | undefined {
  return workspaces.find(
    ({ id, scopes }) => id === defaultWorkspaceId && scopes.includes("workspaces:own"),
  )?.id;
}
