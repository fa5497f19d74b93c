import { record } from "../base/audit/index.ts";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { deleteInvitationRow } from "./invitation-store.ts";
import { permitRole } from "./member.ts";

/**
 * Deletes an invitation, which makes its link invalid.
 * @throws ApiError `not_found`; `forbidden` if the invitation's role has scopes that the actor does
 *   not have; the errors of `requireUnchangedRights`.
 */
export async function withdrawInvitation({
  ctx,
  input,
}: {
  ctx: Context;
  input: { invitationId: string };
}): Promise<void> {
  permit(ctx, "members:write");
  await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    await requireUnchangedRights(tx, ctx);
    const row = await deleteInvitationRow(tx, ctx.workspaceId, input.invitationId);
    if (row === undefined)
      throw new ApiError(
        "not_found",
        "There is no open invitation with this id in this workspace.",
      );
    permitRole(ctx, row.role);
    await record(tx, ctx, {
      action: "invitation.delete",
      target: row.id,
      data: { email: row.email, role: row.role },
    });
  });
}
