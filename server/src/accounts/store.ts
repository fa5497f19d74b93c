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
 * Returns the account and locks its row against other changes until the transaction ends; undefined
 * if the account does not exist. The transactions in `members/` that add a person to a workspace or
 * use a reset link take this lock, so for one person they run one after the other.
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

/**
 * Returns the person's memberships, oldest workspace first. Reads the table `members` itself,
 * because this module must not import `members/`, which is a layer above.
 */
export function membershipsOf(tx: WorkspaceTransaction, userId: string) {
  return tx
    .selectFrom("members")
    .innerJoin("workspaces", "workspaces.id", "members.workspace_id")
    .select(["workspaces.id", "workspaces.name", "members.role"])
    .where("members.user_id", "=", userId)
    .orderBy("workspaces.id")
    .execute();
}
