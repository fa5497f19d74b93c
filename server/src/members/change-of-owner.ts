import { type Role, roleScopes, role as roles } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { deleteInvitationsBy } from "./invitation-store.ts";
import { hasOtherOwner } from "./store.ts";

/**
 * Checks that the workspace has an owner besides this person. The caller must have called
 * `lockMembers`, so that two owners cannot leave at the same time.
 * @throws ApiError `conflict` if the person is the last owner.
 */
export async function requireOtherOwner(
  tx: WorkspaceTransaction,
  ctx: Context,
  userId: string,
): Promise<void> {
  if (await hasOtherOwner(tx, ctx.workspaceId, userId)) return;
  throw new ApiError(
    "conflict",
    "This is the last owner of the workspace. Make another member an owner first.",
  );
}

/**
 * Deletes the open invitations that the person issued but has no right to issue with their new
 * role. Otherwise the person could use such an invitation to get the old role back.
 * @param remaining The person's new role; undefined if they are no longer a member.
 */
export async function withdrawInvitations(
  tx: WorkspaceTransaction,
  ctx: Context,
  { userId, remaining }: { userId: string; remaining?: Role },
): Promise<void> {
  const ownScopes: readonly string[] = remaining === undefined ? [] : roleScopes[remaining];
  const canInvite = ownScopes.includes("members:write");
  const exceedingRoles = roles.options.filter(
    (each) => !canInvite || roleScopes[each].some((scope) => !ownScopes.includes(scope)),
  );
  if (exceedingRoles.length === 0) return;
  for (const row of await deleteInvitationsBy(tx, ctx.workspaceId, {
    principal: `user:${userId}`,
    roles: exceedingRoles,
  })) {
    await record(tx, ctx, {
      action: "invitation.delete",
      target: row.id,
      data: { email: row.email, role: row.role },
    });
  }
}
