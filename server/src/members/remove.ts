import { deleteResets } from "../accounts/index.ts";
import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { requireOtherOwner, withdrawInvitations } from "./change-of-owner.ts";
import { permitRole, requireMember } from "./member.ts";
import { deleteMember, lockMembers } from "./store.ts";

/**
 * Removes a person from the workspace. After the response, all processes reject the person's
 * requests to the workspace. Every member can remove their own membership. The person's account
 * remains. Agents and keys that the person created remain too, because they belong to the
 * workspace.
 * @throws ApiError `not_found`; `forbidden` if the member's role has scopes that the actor does not
 *   have; `conflict` for the last owner; the errors of `requireUnchangedRights`.
 */
export async function removeMember({
  ctx,
  input,
}: {
  ctx: Context;
  input: { userId: string };
}): Promise<void> {
  const isOwnMembership = ctx.actor.kind === "user" && ctx.actor.id === input.userId;
  if (!isOwnMembership) permit(ctx, "members:write");
  // The transaction sees all workspaces, because `deleteResets` deletes reset links, which belong
  // to no workspace.
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    await lockMembers(tx, ctx.workspaceId);
    await requireUnchangedRights(tx, ctx);
    const row = await requireMember(tx, ctx, input.userId);
    if (!isOwnMembership) permitRole(ctx, row.role);
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
