import { scopes } from "@beckon/contract";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { deleteBootstrapKey, upsertBootstrapKey } from "./bootstrap-store.ts";
import { insertSecret, retireSecret } from "./secret-store.ts";

/**
 * Sets the workspace's bootstrap key. It has all scopes and comes from the setting
 * BECKON_BOOTSTRAP_KEY or from the data folder. The previous bootstrap key becomes invalid.
 * @param text The key, or undefined to delete the bootstrap key.
 */
export async function ensureBootstrapKey(
  tx: WorkspaceTransaction,
  workspaceId: string,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) return deleteBootstrapKey(tx, workspaceId);
  const key = await upsertBootstrapKey(tx, { id: newId("key"), workspaceId, scopes: [...scopes] });
  await retireSecret(tx, key, 0);
  await insertSecret(tx, key, hashCredential(text));
}
