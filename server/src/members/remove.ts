import { deleteResets } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { requireOtherOwner, withdrawInvitations } from "./change-of-owner.ts";
import { permitRole, requireMember, requireStanding } from "./member.ts";
import { deleteMember, lockMembers } from "./store.ts";

/**
 * Takes a person out of the workspace: every process refuses what they send after the answer. Whoever they are, they may leave by
 * themselves. Their account stays, and so do agents and keys that they made, which are the workspace's.
 * @throws ApiError `forbidden` for somebody above the actor; `conflict` for the last owner.
 */
export async function removeMember({
  ctx,
  input,
}: {
  ctx: Context;
  input: { userId: string };
}): Promise<void> {
  const leaves = ctx.actor.kind === "user" && ctx.actor.id === input.userId;
  if (!leaves) permit(ctx, "members:write");
  // Links to set the person's password belong to no workspace.
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    await lockMembers(tx, ctx.workspaceId);
    await requireStanding(tx, ctx);
    const row = await requireMember(tx, ctx, input.userId);
    if (!leaves) permitRole(ctx, row.role);
    if (row.role === "owner") await requireOtherOwner(tx, ctx, row.id);
    await deleteMember(tx, ctx.workspaceId, row.id);
    await deleteResets(tx, row.id);
    await withdrawInvitations(tx, ctx, { userId: row.id });
    await record(tx, ctx, {
      action: "member.delete",
      target: row.id,
      data: { email: row.email, role: row.role },
    });
  });
}
