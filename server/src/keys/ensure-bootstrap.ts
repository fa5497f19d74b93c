import { isDeepStrictEqual } from "node:util";
import { scopes } from "@beckon/contract";
import { changes, record } from "../base/audit/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { hashCredential } from "../base/secrets/index.ts";
import { findBootstrapKey, hasSecret } from "./bootstrap-store.ts";
import { toKey } from "./key.ts";
import { insertSecret, retireSecret } from "./secret-store.ts";
import { deleteKeyRow, insertKey, updateKeyRow } from "./store.ts";

/**
 * Sets the workspace's bootstrap key. It has all scopes and comes from the setting
 * BECKON_BOOTSTRAP_KEY or from the data folder. The previous bootstrap key becomes invalid. Writes
 * and records only what differs, because every startup calls this.
 * @param ctx The caller must hold the migration lock.
 * @param given.text The key, or undefined to delete the bootstrap key.
 * @param given.isNew Whether the workspace was just created. Its first key is not recorded, as the
 *   rest of its initial content.
 */
export async function ensureBootstrapKey(
  tx: WorkspaceTransaction,
  ctx: Pick<Context, "workspaceId" | "actor">,
  { text, isNew }: { text: string | undefined; isNew: boolean },
): Promise<void> {
  const row = await findBootstrapKey(tx, ctx.workspaceId);
  if (text === undefined) {
    if (row === undefined) return;
    await deleteKeyRow(tx, row);
    return record(tx, ctx, { action: "key.delete", target: row.id, data: { name: row.name } });
  }
  const hash = hashCredential(text);
  const grant = { scopes: [...scopes], agent_ids: null };
  if (row === undefined) {
    const { id, name } = await insertKey(tx, {
      id: newId("key"),
      workspace_id: ctx.workspaceId,
      name: "bootstrap",
      bootstrap: true,
      ...grant,
      created_by: "system",
      expiry: "never",
    });
    await insertSecret(tx, { id, workspace_id: ctx.workspaceId }, hash);
    if (isNew) return;
    const data = { name, ...grant, expires_at: null };
    return record(tx, ctx, { action: "key.create", target: id, data });
  }
  if (!isDeepStrictEqual(row.scopes, grant.scopes)) {
    // Another version of Beckon has other scopes.
    const changed = await updateKeyRow(tx, row, { scopes: grant.scopes });
    const data = changes(toKey(row), toKey(changed));
    await record(tx, ctx, { action: "key.update", target: row.id, data });
  }
  if (await hasSecret(tx, row, hash)) return;
  await retireSecret(tx, row, 0);
  await insertSecret(tx, row, hash);
  await record(tx, ctx, { action: "key.rotate", target: row.id, data: { grace_seconds: 0 } });
}
