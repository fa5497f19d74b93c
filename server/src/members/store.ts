import type { Role } from "@beckon/contract";
import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";

/** A membership with the name and e-mail of its person. */
export interface MemberRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly created_at: Date;
  readonly updated_at: Date;
}

function members(tx: WorkspaceTransaction, workspaceId: string) {
  return tx
    .selectFrom("members as m")
    .innerJoin("users as u", "u.id", "m.user_id")
    .select(["u.id", "u.name", "u.email", "m.role", "m.created_at", "m.updated_at"])
    .where("m.workspace_id", "=", workspaceId);
}

export async function insertMember(
  tx: WorkspaceTransaction,
  row: { user_id: string; workspace_id: string; role: Role },
): Promise<void> {
  await tx.insertInto("members").values(row).execute();
}

export function findMemberRow(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
): Promise<MemberRow | undefined> {
  return members(tx, workspaceId).where("u.id", "=", userId).executeTakeFirst();
}

/** Returns the roles of those of the people who are members of the workspace, by user id. */
export async function findRoles(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userIds: readonly string[],
): Promise<Map<string, Role>> {
  if (userIds.length === 0) return new Map();
  const rows = await tx
    .selectFrom("members")
    .select(["user_id", "role"])
    .where("workspace_id", "=", workspaceId)
    .where("user_id", "in", userIds)
    .execute();
  return new Map(rows.map(({ user_id, role }) => [user_id, role]));
}

/**
 * Returns the workspace's name.
 * @throws if the workspace does not exist. Callers have found a member or an invitation of it, so
 *   it exists.
 */
export async function findWorkspaceName(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<string> {
  const { name } = await tx
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return name;
}

export function findMemberByEmail(
  tx: WorkspaceTransaction,
  workspaceId: string,
  email: string,
): Promise<MemberRow | undefined> {
  return members(tx, workspaceId).where("u.email", "=", email).executeTakeFirst();
}

export function listMemberRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  page: PageRequest,
): Promise<MemberRow[]> {
  const query = members(tx, workspaceId)
    .orderBy("u.id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("u.id", "<", page.below)).execute();
}

/**
 * Makes other transactions that change the workspace's members wait until this transaction ends.
 * Therefore, for example, two owners cannot remove each other at the same time.
 */
export async function lockMembers(tx: WorkspaceTransaction, workspaceId: string): Promise<void> {
  await tx
    .selectFrom("workspaces")
    .select("id")
    .where("id", "=", workspaceId)
    .forNoKeyUpdate()
    .execute();
}

/**
 * Locks the members of several workspaces, as `lockMembers` does for one: of `workspaceId`, and of
 * all workspaces in which the person is a member. Locks the workspaces in the order of their ids to
 * prevent deadlocks.
 * @param tx A transaction that sees all workspaces.
 */
export async function lockMembersAround(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await tx
    .selectFrom("workspaces")
    .select("id")
    .where(({ eb, or, selectFrom }) =>
      or([
        eb("id", "=", workspaceId),
        eb("id", "in", selectFrom("members").select("workspace_id").where("user_id", "=", userId)),
      ]),
    )
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
}

/** Returns whether the workspace has an owner other than this person. */
export async function hasOtherOwner(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom("members")
    .select("user_id")
    .where("workspace_id", "=", workspaceId)
    .where("role", "=", "owner")
    .where("user_id", "<>", userId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function updateRole(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
  role: Role,
): Promise<void> {
  await tx
    .updateTable("members")
    .set({ role, updated_at: sql<Date>`now()` })
    .where("workspace_id", "=", workspaceId)
    .where("user_id", "=", userId)
    .execute();
}

export async function deleteMember(
  tx: WorkspaceTransaction,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await tx
    .deleteFrom("members")
    .where("workspace_id", "=", workspaceId)
    .where("user_id", "=", userId)
    .execute();
}

/**
 * Returns the person's memberships, oldest workspace first. Reads all workspaces, because a request
 * with a session can choose any of the person's workspaces.
 */
export async function findMemberships(
  database: Database,
  userId: string,
): Promise<{ workspaceId: string; role: Role }[]> {
  const { rows } = await database.engine.query<{ workspace_id: string; role: Role }>({
    name: "find-memberships",
    text: "select workspace_id, role from members where user_id = $1 order by workspace_id",
    values: [userId],
  });
  return rows.map((row) => ({ workspaceId: row.workspace_id, role: row.role }));
}

/**
 * Returns whether the person is a member of a workspace, other than `workspaceId`, that `owner`
 * does not own.
 * @param tx A transaction that sees all workspaces.
 * @param given.owner A user id, or undefined for a key, which owns no other workspace.
 */
export async function isMemberOfUnownedWorkspace(
  tx: WorkspaceTransaction,
  {
    userId,
    workspaceId,
    owner,
  }: { userId: string; workspaceId: string; owner: string | undefined },
): Promise<boolean> {
  const row = await tx
    .selectFrom("members as m")
    .select("m.workspace_id")
    .where("m.user_id", "=", userId)
    .where("m.workspace_id", "<>", workspaceId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("members as o")
            .select("o.user_id")
            .whereRef("o.workspace_id", "=", "m.workspace_id")
            .where("o.user_id", "=", owner ?? "")
            .where("o.role", "=", "owner"),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
