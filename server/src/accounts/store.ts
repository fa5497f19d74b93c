import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";

export type UserRow = Selectable<Tables["users"]>;

export function insertUser(
  tx: WorkspaceTransaction,
  row: { id: string; name: string; email: string },
): Promise<UserRow> {
  return tx.insertInto("users").values(row).returningAll().executeTakeFirstOrThrow();
}

export function findUser(tx: WorkspaceTransaction, id: string): Promise<UserRow | undefined> {
  return tx.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
}

/**
 * The same, locked against other changes until the transaction ends: also for who joins a workspace
 * or sets a password by a link.
 */
export function lockUser(tx: WorkspaceTransaction, id: string): Promise<UserRow | undefined> {
  return tx
    .selectFrom("users")
    .selectAll()
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

export function renameUser(tx: WorkspaceTransaction, id: string, name: string): Promise<UserRow> {
  return tx
    .updateTable("users")
    .set({ name, updated_at: sql<Date>`now()` })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Where the person is a member, oldest workspace first. Reads the members' table, which is theirs: `members/` stands above and may not be asked. */
export function membershipsOf(tx: WorkspaceTransaction, userId: string) {
  return tx
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["workspaces.id", "workspaces.name", "members.role"])
    .where("members.user_id", "=", userId)
    .orderBy("workspaces.id")
    .execute();
}
