import type { WorkspaceTransaction } from "../base/database/index.ts";
import { insertWorkspace } from "./store.ts";

/**
 * The first workspace of every installation. Its id is fixed so that processes that start at the
 * same time insert the same row.
 */
export const defaultWorkspaceId = "wsp_00000000000000000000000000";

/** Inserts the workspace `default` if it does not exist. @returns Whether it was inserted. */
export async function ensureDefaultWorkspace(tx: WorkspaceTransaction): Promise<boolean> {
  return (await insertWorkspace(tx, { id: defaultWorkspaceId, name: "default" })) !== undefined;
}
