import { type Role, roleScopes, role as roles } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { deleteInvitationsBy } from "./invitation-store.ts";
import { hasOtherOwner } from "./store.ts";

/**
 * A workspace always has an owner. Call it under `lockMembers`, so that of two owners who go at the same moment the second finds itself the last.
 * @throws ApiError `conflict` when the person is the last one.
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
 * Takes back the open invitations that the person has made and could not make any more: or a link that somebody kept would lead
 * them back. `remaining`: the role that they have from now on, if any.
 */
export async function withdrawInvitations(
  tx: WorkspaceTransaction,
  ctx: Context,
  { userId, remaining }: { userId: string; remaining?: Role },
): Promise<void> {
  const own: readonly string[] = remaining === undefined ? [] : roleScopes[remaining];
  const mayInvite = own.includes("members:write");
  const beyond = roles.options.filter(
    (each) => !mayInvite || roleScopes[each].some((scope) => !own.includes(scope)),
  );
  if (beyond.length === 0) return;
  for (const row of await deleteInvitationsBy(tx, ctx.workspaceId, {
    principal: `user:${userId}`,
    roles: beyond,
  })) {
    await record(tx, ctx, {
      action: "invitation.delete",
      target: row.id,
      data: { email: row.email, role: row.role },
    });
  }
}
