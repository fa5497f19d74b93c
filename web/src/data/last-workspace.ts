const name = "beckon.workspace";

/** Returns the id of the workspace that this browser opened last; undefined if there is none. */
export function lastWorkspace(): string | undefined {
  return localStorage.getItem(name) ?? undefined;
}

/** Remembers the workspace that `/` leads to. */
export function rememberWorkspace(workspaceId: string): void {
  localStorage.setItem(name, workspaceId);
}

/** Forgets it, for the next person who signs in. */
export function forgetWorkspace(): void {
  localStorage.removeItem(name);
}
