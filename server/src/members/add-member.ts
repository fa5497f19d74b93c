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
 * Makes a person a member. Among the members of a workspace an e-mail is unique, so that it signs
 * in one of them. In a transaction that sees all workspaces. Links to set the person's password
 * stop: whoever issued one may have no right here.
 * @throws ApiError `conflict` for a member, or for the e-mail of one.
 */
export async function addMember(
  tx: WorkspaceTransaction,
  { userId, workspaceId, role }: { userId: string; workspaceId: string; role: Role },
): Promise<MemberRow> {
  await lockMembers(tx, workspaceId);
  const user = await lockUser(tx, userId);
  if (user === undefined) throw new Error("a person who joins has no account");
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
      `Another member of this workspace has the e-mail ${user.email}. Join with an account that has another one, or ask an admin to remove that member.`,
    );
  }
  await insertMember(tx, { user_id: userId, workspace_id: workspaceId, role });
  await deleteResets(tx, userId);
  const row = await findMemberRow(tx, workspaceId, userId);
  if (row === undefined) throw new Error("a member that was just added is not there");
  return row;
}
