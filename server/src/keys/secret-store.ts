import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

interface KeyRef {
  readonly id: string;
  readonly workspace_id: string;
}

export async function insertSecret(
  tx: WorkspaceTransaction,
  key: KeyRef,
  hash: Buffer,
): Promise<void> {
  await tx
    .insertInto("key_secrets")
    .values({ hash, key_id: key.id, workspace_id: key.workspace_id })
    .execute();
}

/**
 * Sets the key's current secret to expire in `graceSeconds`, and deletes the previous secret. With
 * 0, deletes both.
 */
export async function retireSecret(
  tx: WorkspaceTransaction,
  key: KeyRef,
  graceSeconds: number,
): Promise<void> {
  const deletion = tx.deleteFrom("key_secrets").where("key_id", "=", key.id);
  await (graceSeconds === 0 ? deletion : deletion.where("expires_at", "is not", null)).execute();
  if (graceSeconds === 0) return;
  await tx
    .updateTable("key_secrets")
    .set({ expires_at: sql<Date>`now() + make_interval(secs => ${graceSeconds})` })
    .where("key_id", "=", key.id)
    .execute();
}

/** Sets `last_used_at` of the secret's key to now, unless it is less than a minute old. */
export async function noteUse(tx: WorkspaceTransaction, hash: Buffer): Promise<void> {
  await tx
    .updateTable("keys")
    .set({ last_used_at: sql<Date>`now()` })
    .where("id", "in", tx.selectFrom("key_secrets").select("key_id").where("hash", "=", hash))
    .where(sql<boolean>`(last_used_at is null or last_used_at < now() - interval '1 minute')`)
    .execute();
}
