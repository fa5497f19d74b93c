import type { WorkspaceTransaction } from "../base/database/index.ts";
import { findKeyRow, type KeyRow } from "./store.ts";

/** Returns the workspace's bootstrap key, or undefined. */
export async function findBootstrapKey(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<KeyRow | undefined> {
  const found = await tx
    .selectFrom("keys")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("bootstrap", "=", true)
    .executeTakeFirst();
  return found && findKeyRow(tx, workspaceId, found.id, undefined);
}

/** Returns whether the key's secret has this hash. */
export async function hasSecret(
  tx: WorkspaceTransaction,
  key: Pick<KeyRow, "id">,
  hash: Buffer,
): Promise<boolean> {
  const row = await tx
    .selectFrom("key_secrets")
    .select("key_id")
    .where("key_id", "=", key.id)
    .where("hash", "=", hash)
    .executeTakeFirst();
  return row !== undefined;
}
