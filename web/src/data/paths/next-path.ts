/**
 * Returns the path to open after a sign-in: `next` if it is a page of a workspace, else undefined.
 * Anything else, for example another site's address, is ignored.
 */
export function nextPath(next: string | undefined): string | undefined {
  return next !== undefined && /^\/w\/[A-Za-z0-9_]/.test(next) ? next : undefined;
}

/** Returns the id of the workspace of a page; undefined if the page belongs to none. */
export function workspaceIn(path: string): string | undefined {
  return /^\/w\/([A-Za-z0-9_]+)/.exec(path)?.[1];
}
