import { defaultWorkspaceId, type Membership } from "../data/index.ts";

/**
 * Returns the id of the default workspace if the person is one of its owners; otherwise undefined.
 * Only these owners can create workspaces.
 */
export function creatingWorkspace(workspaces: readonly Membership[]): string | undefined {
  return workspaces.find(
    ({ id, scopes }) => id === defaultWorkspaceId && scopes.includes("workspaces:own"),
  )?.id;
}
