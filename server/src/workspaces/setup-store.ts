import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

/** Returns whether the workspace has an owner. */
export async function hasOwner(tx: WorkspaceTransaction, workspaceId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("members")
    .select("user_id")
    .where("workspace_id", "=", workspaceId)
    .where("role", "=", "owner")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores the hash of a setup token in place of the previous one. With null, no token is valid. */
export async function replaceSetupHash(
  tx: WorkspaceTransaction,
  hash: Buffer | null,
): Promise<void> {
  await sql`update installation set setup_hash = ${hash}`.execute(tx);
}

export async function isSetupHash(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`select from installation where setup_hash = ${hash}`.execute(tx);
  return rows.length > 0;
}

/**
 * Deletes the setup token's hash.
 * @returns Whether the hash was stored. Of concurrent calls, only one returns true.
 */
export async function takeSetupHash(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`update installation set setup_hash = null
      where setup_hash = ${hash} returning only_row`.execute(tx);
  return rows.length > 0;
}
