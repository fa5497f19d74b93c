import { createInvitationBody } from "@beckon/contract";
import { record } from "../base/audit/index.ts";
import { type Context, permit, principalOf } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Once, once } from "../base/idempotency/index.ts";
import { newId } from "../base/ids.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, newCredential } from "../base/secrets/index.ts";
import { requireUnchangedRights } from "../credentials/index.ts";
import { type InvitationWithLink, toInvitation } from "./invitation.ts";
import { insertInvitation } from "./invitation-store.ts";
import { permitRole } from "./member.ts";
import { findMemberByEmail, lockMembers } from "./store.ts";

/**
 * Issues an invitation link, which can be used once. Only this response contains the link.
 * @throws ApiError `bad_request`; `forbidden` for a role with scopes that the actor does not have;
 *   `conflict` if a member has this e-mail; the errors of `requireUnchangedRights`.
 */
export async function inviteMember({
  ctx,
  input,
}: {
  ctx: Context;
  input: { body: UnparsedBody; publicUrl: string };
}): Promise<Once<InvitationWithLink>> {
  permit(ctx, "members:write");
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const { email, role, expires_in_days } = parseBody(createInvitationBody, input.body);
      permitRole(ctx, role);
      await lockMembers(tx, ctx.workspaceId);
      await requireUnchangedRights(tx, ctx);
      if ((await findMemberByEmail(tx, ctx.workspaceId, email)) !== undefined) {
        throw new ApiError(
          "conflict",
          `${email} is a member of this workspace already. Change their role instead.`,
        );
      }
      const token = newCredential("bki_");
      const row = await insertInvitation(tx, {
        id: newId("inv"),
        workspace_id: ctx.workspaceId,
        email,
        role,
        hash: hashCredential(token),
        created_by: principalOf(ctx.actor),
        days: expires_in_days,
      });
      const shown = toInvitation(row, true);
      await record(tx, ctx, {
        action: "invitation.create",
        target: row.id,
        data: { email, role, expires_at: shown.expires_at },
      });
      // Browsers do not send the fragment of a URL, so no server or proxy can log the token.
      return { ...shown, token, url: `${input.publicUrl}/invite#token=${token}` };
    }),
  );
}
