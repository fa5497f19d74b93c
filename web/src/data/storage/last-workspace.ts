const name = "beckon.workspace";

/** Returns the id of the workspace that this browser opened last; undefined if there is none. */
export function lastWorkspace(): string | undefined {
  return localStorage.getItem(name) ?? undefined;
}

/** Stores the workspace to which `/` redirects. */
export function rememberWorkspace(workspaceId: string): void {
  localStorage.setItem(name, workspaceId);
}

/** Deletes the stored workspace, because the next person who signs in may not be a member of it. */
export function forgetWorkspace(): void {
  localStorage.removeItem(name);
}
