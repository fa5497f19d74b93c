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

/** Maximum number of setup tokens that are valid at the same time: those that were issued last. */
export const maxSetupTokens = 10;

/** Stores the hash of a setup token beside those that were issued before. */
export async function addSetupHash(tx: WorkspaceTransaction, hash: Buffer): Promise<void> {
  await sql`update installation set setup_hash = ${hash}, earlier_setup_hashes =
      (array_remove(array[setup_hash], null) || earlier_setup_hashes)[1:${sql.lit(maxSetupTokens - 1)}]`.execute(
    tx,
  );
}

const noHashes = sql`setup_hash = null, earlier_setup_hashes = '{}'`;
const isOneOf = (hash: Buffer) =>
  sql`(setup_hash = ${hash} or ${hash} = any (earlier_setup_hashes))`;

/** Deletes the hashes of all setup tokens. */
export async function deleteSetupHashes(tx: WorkspaceTransaction): Promise<void> {
  await sql`update installation set ${noHashes}`.execute(tx);
}

export async function isSetupHash(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`select from installation where ${isOneOf(hash)}`.execute(tx);
  return rows.length > 0;
}

/**
 * Deletes the hashes of all setup tokens, if this is the hash of one of them.
 * @returns Whether it was. Of concurrent calls, only one returns true.
 */
export async function takeSetupHashes(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { rows } = await sql`update installation set ${noHashes}
      where ${isOneOf(hash)} returning only_row`.execute(tx);
  return rows.length > 0;
}
