import type { WorkspaceTransaction } from "../base/database/index.ts";
import { insertWorkspace } from "./store.ts";

/** Every installation's first workspace. A fixed id: two processes that start together mean the same one. */
export const defaultWorkspaceId = "wsp_00000000000000000000000000";

/** Adds the workspace `default` unless it is there. @returns whether it was added now. */
export async function ensureDefaultWorkspace(tx: WorkspaceTransaction): Promise<boolean> {
  return (await insertWorkspace(tx, { id: defaultWorkspaceId, name: "default" })) !== undefined;
}
