import { type Member, updateMemberBody } from "@beckon/contract";
import { deleteResets } from "../accounts/index.ts";
import { changes, record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { requireOtherOwner, withdrawInvitations } from "./change-of-owner.ts";
import { permitRole, requireMember, toMember } from "./member.ts";
import { lockMembers, updateRole } from "./store.ts";

/**
 * Changes a member's role. After the response, all processes use the new role. A role that the
 * member already has changes nothing, so their reset links remain valid.
 * @throws ApiError `bad_request`, `not_found`; `forbidden` if the old or new role has scopes that
 *   the actor does not have; `conflict` for the last owner; the errors of `requireUnchangedRights`.
 */
export async function updateMember({
  ctx,
  input,
}: {
  ctx: Context;
  input: { userId: string; body: UnparsedBody };
}): Promise<Member> {
  permit(ctx, "members:write");
  // The transaction sees all workspaces, because `deleteResets` deletes reset links, which belong
  // to no workspace.
  return inAllWorkspaces(ctx.database.tenant, async (tx) => {
    await lockMembers(tx, ctx.workspaceId);
    await requireUnchangedRights(tx, ctx);
    const row = await requireMember(tx, ctx, input.userId);
    const { role } = parseBody(updateMemberBody, input.body);
    permitRole(ctx, row.role);
    permitRole(ctx, role);
    if (role === row.role) return toMember(row);
    if (row.role === "owner" && role !== "owner") await requireOtherOwner(tx, ctx, row.id);
    await updateRole(tx, ctx.workspaceId, row.id, role);
    await deleteResets(tx, row.id);
    await withdrawInvitations(tx, ctx, { userId: row.id, remaining: role });
    const changed = toMember(await requireMember(tx, ctx, row.id));
    await record(tx, ctx, {
      action: "member.update",
      target: row.id,
      data: changes(toMember(row), changed),
    });
    return changed;
  });
}
