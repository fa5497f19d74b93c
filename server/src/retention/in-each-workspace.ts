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
  prepare: (workspace: WorkspaceDays) => Promise<DeleteSome | undefined>,
): DeleteSome {
  const workspaces = listAll(connection);
  let deleteHere: DeleteSome | undefined;
  return async (max) => {
    for (let visited = 0; visited < maxWorkspaces; visited++) {
      if (deleteHere === undefined) {
        const { value: workspace, done } = await workspaces.next();
        if (done === true) return { deleted: {}, hasMore: false };
        deleteHere = await prepare(workspace);
        if (deleteHere === undefined) continue;
      }
      const { deleted, hasMore } = await deleteHere(max);
      if (!hasMore) deleteHere = undefined;
      // Returns after a batch with old rows, so that the caller can pause. If this workspace had no
      // old rows, the loop continues with the next one at once.
      if (hasMore || Object.values(deleted).some((rows) => rows > 0))
        return { deleted, hasMore: true };
    }
    return { deleted: {}, hasMore: true };
  };
}

async function* listAll(connection: Queryable): AsyncGenerator<WorkspaceDays, undefined> {
  for (let after = ""; ; ) {
    const page = await listWorkspaceDays(connection, after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return undefined;
    after = last.id;
  }
}
