import type { DeleteSome, Queryable } from "./kinds.ts";
import { listWorkspaceDays, type WorkspaceDays } from "./workspaces-store.ts";

/** Number of workspaces that one query reads. */
const pageSize = 500;

/**
 * Maximum number of workspaces that one call goes through. Between two calls, the pass can be
 * stopped. Without this limit, a process that stops would wait for the queries of all workspaces.
 */
const maxWorkspaces = 50;

/**
 * Returns a deletion that goes through all workspaces, one after the other.
 * @param prepare returns the deletion in one workspace; undefined if nothing is deleted there.
 */
export function inEachWorkspace(
  connection: Queryable,
  prepare: (workspace: WorkspaceDays) => DeleteSome | undefined,
): DeleteSome {
  const nextWorkspace = listAll(connection);
  let deleteHere: DeleteSome | undefined;
  let hasOldRows = false;
  return async (max, options) => {
    for (let visited = 0; visited < maxWorkspaces; visited++) {
      if (deleteHere === undefined) {
        const workspace = await nextWorkspace();
        if (workspace === undefined) return { deleted: {}, hasMore: false };
        deleteHere = prepare(workspace);
        hasOldRows = false;
        if (deleteHere === undefined) continue;
      }
      const { deleted, hasMore } = await deleteHere(max, options);
      hasOldRows ||= hasMore || Object.values(deleted).some((rows) => rows > 0);
      if (!hasMore) deleteHere = undefined;
      // Returns after a batch with old rows, so that the caller can pause, and after the last batch
      // of a workspace that had some, so that the caller can choose the size of the next batch. If
      // this workspace had no old rows, the loop continues with the next one at once.
      if (hasOldRows) return { deleted, hasMore: true, endsWorkspace: !hasMore };
    }
    return { deleted: {}, hasMore: true };
  };
}

/**
 * Returns a function that returns the next workspace; undefined after the last one. It is no
 * generator, because a generator ends when a query fails. The call could not be repeated then.
 */
function listAll(connection: Queryable): () => Promise<WorkspaceDays | undefined> {
  let page: readonly WorkspaceDays[] = [];
  let read = 0;
  let after = "";
  return async () => {
    if (read === page.length) {
      page = await listWorkspaceDays(connection, after, pageSize);
      read = 0;
    }
    const workspace = page[read];
    if (workspace === undefined) return undefined;
    read += 1;
    after = workspace.id;
    return workspace;
  };
}
