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

/** Makes the current secret a predecessor that lives `graceSeconds` more, with 0 not at all, and ends the predecessor before it. */
export async function retireSecret(
  tx: WorkspaceTransaction,
  key: KeyRef,
  graceSeconds: number,
): Promise<void> {
  const predecessors = tx.deleteFrom("key_secrets").where("key_id", "=", key.id);
  await (graceSeconds === 0
    ? predecessors
    : predecessors.where("expires_at", "is not", null)
  ).execute();
  if (graceSeconds === 0) return;
  await tx
    .updateTable("key_secrets")
    .set({ expires_at: sql<Date>`now() + make_interval(secs => ${graceSeconds})` })
    .where("key_id", "=", key.id)
    .execute();
}

/** Notes that the key of this secret is used now, unless that was noted within the last minute. */
export async function noteUse(tx: WorkspaceTransaction, hash: Buffer): Promise<void> {
  await tx
    .updateTable("keys")
    .set({ last_used_at: sql<Date>`now()` })
    .where("id", "in", tx.selectFrom("key_secrets").select("key_id").where("hash", "=", hash))
    .where(sql<boolean>`(last_used_at is null or last_used_at < now() - interval '1 minute')`)
    .execute();
}
