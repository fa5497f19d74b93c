import type { Role } from "@beckon/contract";
import { type Selectable, sql } from "kysely";
import type { Tables, WorkspaceTransaction } from "../base/database/index.ts";
import type { PageRequest } from "../base/page.ts";
import { isUnexpired } from "../credentials/index.ts";

export type InvitationRow = Selectable<Tables["invitations"]>;

const isLive = sql.raw<boolean>(isUnexpired("invitations"));

export function insertInvitation(
  tx: WorkspaceTransaction,
  {
    days,
    ...row
  }: {
    id: string;
    workspace_id: string;
    email: string;
    role: Role;
    hash: Buffer;
    created_by: string;
    days: number;
  },
): Promise<InvitationRow> {
  // The interval is in hours, because PostgreSQL adds days in the time zone of the session, where a
  // day can have 23 or 25 hours.
  return tx
    .insertInto("invitations")
    .values({ ...row, expires_at: sql<Date>`now() + make_interval(hours => ${24 * days})` })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** `lives` is whether the invitation has not expired, by the database's clock. */
export function listInvitationRows(
  tx: WorkspaceTransaction,
  workspaceId: string,
  page: PageRequest,
): Promise<(InvitationRow & { lives: boolean })[]> {
  const query = tx
    .selectFrom("invitations")
    .selectAll()
    .select(isLive.as("lives"))
    .where("workspace_id", "=", workspaceId)
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  return (page.below === undefined ? query : query.where("id", "<", page.below)).execute();
}

export function deleteInvitationRow(
  tx: WorkspaceTransaction,
  workspaceId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .deleteFrom("invitations")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Returns the invitation; undefined if there is none, or if it has expired.
 * @param tx A transaction that sees all workspaces, because the link determines the workspace.
 * @param hash SHA-256 of the link's token.
 */
export function findInvitation(
  tx: WorkspaceTransaction,
  hash: Buffer,
): Promise<InvitationRow | undefined> {
  return tx
    .selectFrom("invitations")
    .selectAll()
    .where("hash", "=", hash)
    .where(isLive)
    .executeTakeFirst();
}

/**
 * Deletes the invitation unless it has expired.
 * @returns Whether it was deleted. Of concurrent calls for the same link, only one returns true.
 */
export async function takeInvitation(tx: WorkspaceTransaction, hash: Buffer): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("invitations")
    .where("hash", "=", hash)
    .where(isLive)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * Deletes and returns the invitations that a principal issued with one of the given roles.
 * @param principal the issuer in the form of `created_by`, for example `user:usr_…`.
 */
export function deleteInvitationsBy(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { principal, roles }: { principal: string; roles: readonly Role[] },
): Promise<InvitationRow[]> {
  return tx
    .deleteFrom("invitations")
    .where("workspace_id", "=", workspaceId)
    .where("created_by", "=", principal)
    .where("role", "in", roles)
    .returningAll()
    .execute();
}
