import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";
import type { Queryable } from "../base/secrets/index.ts";
import { isUnexpired } from "../credentials/index.ts";

export type SessionRow = Selectable<Tables["sessions"]>;

/**
 * SQL condition that the session has not expired, by the database's clock. The library better-auth,
 * which validates session cookies, compares the same column with the clock of this process. If the
 * clocks differ, the two results can differ for a moment.
 */
const isValid = sql.raw<boolean>(isUnexpired("sessions"));

export function listSessionRows(
  tx: WorkspaceTransaction,
  userId: string,
  page: PageRequest,
): Promise<SessionRow[]> {
  const query = tx
    .selectFrom("sessions")
    .selectAll()
    .where("user_id", "=", userId)
    .where(isValid)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

/** Returns whether the person `userId` has a session with this id that has not expired. */
export async function isSession(
  tx: WorkspaceTransaction,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  const row = await tx
    .selectFrom("sessions")
    .select("id")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .where(isValid)
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes a session. @returns Whether it existed. */
export async function deleteSessionRow(
  tx: WorkspaceTransaction,
  userId: string,
  id: string,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("sessions")
    .where("user_id", "=", userId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Deletes the person's sessions, except the session with the given id or token.
 * @returns The number of deleted sessions.
 */
export async function deleteSessionsOf(
  tx: WorkspaceTransaction,
  userId: string,
  except: { readonly id?: string; readonly token?: string } = {},
): Promise<number> {
  let query = tx.deleteFrom("sessions").where("user_id", "=", userId);
  if (except.id !== undefined) query = query.where("id", "<>", except.id);
  if (except.token !== undefined) query = query.where("token", "<>", except.token);
  const { numDeletedRows } = await query.executeTakeFirst();
  return Number(numDeletedRows);
}

/** Deletes the sessions of all people. */
export async function deleteAllSessions(client: Queryable): Promise<void> {
  await client.query("delete from sessions");
}

export async function deleteSessionOfToken(
  tx: WorkspaceTransaction,
  token: string,
): Promise<undefined> {
  await tx.deleteFrom("sessions").where("token", "=", token).execute();
}
