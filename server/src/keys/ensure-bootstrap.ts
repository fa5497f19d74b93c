import { scopes } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { deleteBootstrapKey, upsertBootstrapKey } from "./store.ts";

/** Makes the workspace's bootstrap key equal to `text`, with all scopes; another one stops at once. undefined: there is none. */
export async function ensureBootstrapKey(tx: WorkspaceTransaction, workspaceId: string, text: string | undefined): Promise<void> {
  if (text === undefined) return deleteBootstrapKey(tx, workspaceId);
  await upsertBootstrapKey(tx, { id: newId("key"), workspaceId, hash: hashCredential(text), scopes: [...scopes] });
}
