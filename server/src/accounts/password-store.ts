import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { isUnexpired } from "../credentials/index.ts";
import type { UserRow } from "./store.ts";

/** A reset link that was issued. */
export type ResetRow = Selectable<Tables["password_resets"]>;

const isValid = sql.raw<boolean>(isUnexpired("password_resets"));

/** The value that the library better-auth uses as `providerId` for accounts with a password. */
const method = "credential";

export async function insertPassword(
  tx: WorkspaceTransaction,
  userId: string,
  hash: string,
): Promise<void> {
  await tx
    .insertInto("accounts")
    .values({ id: newId("acc"), user_id: userId, account_id: userId, method, password: hash })
    .execute();
}

export async function findPassword(
  tx: WorkspaceTransaction,
  userId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom("accounts")
    .select("password")
    .where("method", "=", method)
    .where("account_id", "=", userId)
    .executeTakeFirst();
  return row?.password ?? undefined;
}

/**
 * Returns the `max` oldest accounts with this e-mail and their password hashes. If `workspaceId` is
 * not undefined, returns only members of this workspace.
 */
export function listAccounts(
  tx: WorkspaceTransaction,
  { email, workspaceId, max }: { email: string; workspaceId: string | undefined; max: number },
): Promise<(UserRow & { password: string | null })[]> {
  const query = tx
    .selectFrom("users as u")
    .leftJoin("accounts as a", (join) =>
      join.onRef("a.account_id", "=", "u.id").on("a.method", "=", method),
    )
    .selectAll("u")
    .select("a.password")
    .where("u.email", "=", email)
    .orderBy("u.id")
    .limit(max);
  if (workspaceId === undefined) return query.execute();
  return query
    .where(
      "u.id",
      "in",
      tx.selectFrom("members").select("user_id").where("workspace_id", "=", workspaceId),
    )
    .execute();
}

/**
 * Returns the person's password hash, locked `FOR SHARE` until the transaction ends; undefined if
 * the person has no password.
 */
export async function lockPassword(
  tx: WorkspaceTransaction,
  userId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom("accounts")
    .select("password")
    .where("method", "=", method)
    .where("account_id", "=", userId)
    .forShare()
    .executeTakeFirst();
  return row?.password ?? undefined;
}

/**
 * Sets the person's password hash.
 * @param replacing If given, the new hash is only set if this is the current hash.
 * @returns Whether the new hash was set.
 */
export async function updatePassword(
  tx: WorkspaceTransaction,
  userId: string,
  { hash, replacing }: { hash: string; replacing?: string },
): Promise<boolean> {
  const update = tx
    .updateTable("accounts")
    .set({ password: hash, updated_at: sql<Date>`now()` })
    .where("method", "=", method)
    .where("account_id", "=", userId);
  const { numUpdatedRows } = await (replacing === undefined
    ? update
    : update.where("password", "=", replacing)
  ).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Stores a reset link in place of the person's previous one. @returns When the link expires. */
export async function upsertReset(
  tx: WorkspaceTransaction,
  {
    user_id,
    hours,
    ...reset
  }: { user_id: string; hash: Buffer; created_by: string; created_in: string; hours: number },
): Promise<Date> {
  const values = {
    ...reset,
    expires_at: sql<Date>`now() + make_interval(hours => ${hours})`,
    created_at: sql<Date>`now()`,
  };
  const row = await tx
    .insertInto("password_resets")
    .values({ user_id, ...values })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
    .returning("expires_at")
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/**
 * Returns the reset link with this hash; undefined if there is none or it has expired. The caller
 * must also check that the link's issuer still has the right to issue it.
 */
export function findReset(tx: WorkspaceTransaction, hash: Buffer): Promise<ResetRow | undefined> {
  return tx
    .selectFrom("password_resets")
    .selectAll()
    .where("hash", "=", hash)
    .where(isValid)
    .executeTakeFirst();
}

/**
 * Deletes the reset link unless it has expired.
 * @returns Whether it was deleted. Of concurrent calls for the same link, only one returns true.
 */
export async function takeReset(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("password_resets")
    .where("hash", "=", hash)
    .where(isValid)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes the open reset link of an account. */
export async function deleteResets(tx: WorkspaceTransaction, userId: string): Promise<void> {
  await tx.deleteFrom("password_resets").where("user_id", "=", userId).execute();
}
