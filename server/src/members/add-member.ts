import type { Role } from "@beckon/contract";
import { deleteResets, lockUser } from "../accounts/index.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import {
  findMemberByEmail,
  findMemberRow,
  insertMember,
  lockMembers,
  type MemberRow,
} from "./store.ts";

/**
 * Makes a person a member. E-mails are unique among a workspace's members, so that an e-mail and a
 * workspace together identify the account that signs in. Deletes the person's reset link. Otherwise
 * the issuer of the link, who may have no rights in this workspace, could set the person's
 * password, sign in as this person and enter the workspace.
 * @param tx A transaction that sees all workspaces.
 * @throws ApiError `conflict` if the person is already a member, or if another member has the same
 *   e-mail.
 */
export async function addMember(
  tx: WorkspaceTransaction,
  { userId, workspaceId, role }: { userId: string; workspaceId: string; role: Role },
): Promise<MemberRow> {
  await lockMembers(tx, workspaceId);
  const user = await lockUser(tx, userId);
  if (user === undefined) throw new Error("the account to add does not exist");
  const other = await findMemberByEmail(tx, workspaceId, user.email);
  if (other?.id === userId) {
    throw new ApiError(
      "conflict",
      "You are a member of this workspace already. Ask one of its admins to change your role.",
    );
  }
  if (other !== undefined) {
    throw new ApiError(
      "conflict",
      `Another member of this workspace has the e-mail ${user.email}. Join with an account with another e-mail, or ask an admin to remove that member.`,
    );
  }
  await insertMember(tx, { user_id: userId, workspace_id: workspaceId, role });
  await deleteResets(tx, userId);
  const row = await findMemberRow(tx, workspaceId, userId);
  if (row === undefined) throw new Error("the added member was not found");
  return row;
}
