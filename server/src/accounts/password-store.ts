import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";

/** The library's name for a password among the ways to sign in. */
const method = "credential";

export async function insertPassword(tx: WorkspaceTransaction, userId: string, hash: string): Promise<void> {
  await tx
    .insertInto("accounts")
    .values({ id: newId("acc"), user_id: userId, account_id: userId, method, password: hash })
    .execute();
}

export async function findPassword(tx: WorkspaceTransaction, userId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom("accounts")
    .select("password")
    .where("method", "=", method)
    .where("account_id", "=", userId)
    .executeTakeFirst();
  return row?.password ?? undefined;
}

/** The same, held against changes until the transaction ends. */
export async function holdPassword(tx: WorkspaceTransaction, userId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom("accounts")
    .select("password")
    .where("method", "=", method)
    .where("account_id", "=", userId)
    .forShare()
    .executeTakeFirst();
  return row?.password ?? undefined;
}

/** `former`: only while that is the one that stands. @returns whether it was changed. */
export async function updatePassword(
  tx: WorkspaceTransaction,
  userId: string,
  { hash, former }: { hash: string; former?: string },
): Promise<boolean> {
  const update = tx
    .updateTable("accounts")
    .set({ password: hash, updated_at: sql<Date>`now()` })
    .where("method", "=", method)
    .where("account_id", "=", userId);
  const { numUpdatedRows } = await (former === undefined ? update : update.where("password", "=", former)).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** In place of the one before. */
export async function upsertReset(tx: WorkspaceTransaction, reset: { userId: string; hash: Buffer; hours: number }): Promise<Date> {
  const values = { hash: reset.hash, expires_at: sql<Date>`now() + make_interval(hours => ${reset.hours})`, created_at: sql<Date>`now()` };
  const row = await tx
    .insertInto("password_resets")
    .values({ user_id: reset.userId, ...values })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(values))
    .returning("expires_at")
    .executeTakeFirstOrThrow();
  return row.expires_at;
}

/** Whose password a link that stands may set. */
export async function findReset(tx: WorkspaceTransaction, hash: Buffer): Promise<string | undefined> {
  const row = await tx
    .selectFrom("password_resets")
    .select("user_id")
    .where("hash", "=", hash)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
  return row?.user_id;
}

/** The same, and the link has gone: of two that come together one takes it. */
export async function takeReset(tx: WorkspaceTransaction, hash: Buffer): Promise<string | undefined> {
  const row = await tx
    .deleteFrom("password_resets")
    .where("hash", "=", hash)
    .where("expires_at", ">", sql<Date>`now()`)
    .returning("user_id")
    .executeTakeFirst();
  return row?.user_id;
}

export async function deleteResets(tx: WorkspaceTransaction, userId: string): Promise<void> {
  await tx.deleteFrom("password_resets").where("user_id", "=", userId).execute();
}
