import { checkLinkBody, type InvitationCheck } from "@beckon/contract";
import type { AccountContext } from "../accounts/index.ts";
import { inAllWorkspaces } from "../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import { hashCredential, isCredential } from "../base/secrets/index.ts";
import { findMemberRow, findWorkspaceName } from "./store.ts";
import { findValidInvitation, invalidInvitationMessage } from "./valid-invitation.ts";

/**
 * Returns what an invitation is for, to show before it is accepted. Changes nothing. An invalid
 * token counts as a failed attempt, as in `acceptInvitation`.
 * @throws ApiError `bad_request`; `unauthorized` for an invalid link; `too_many_requests`
 */
export async function checkInvitation({
  ctx,
  input,
}: {
  ctx: AccountContext;
  input: { body: UnparsedBody };
}): Promise<InvitationCheck> {
  const { token } = parseBody(checkLinkBody, input.body);
  ctx.failedAttempts.permit();
  const link = isCredential("bki_", token)
    ? await inAllWorkspaces(ctx.database.tenant, async (tx) => {
        const row = await findValidInvitation(tx, hashCredential(token));
        if (row === undefined) return undefined;
        const { workspace_id: workspaceId, role, email, created_by: issuer } = row;
        const [kind, id = ""] = issuer.split(":");
        const inviter = kind === "user" ? await findMemberRow(tx, workspaceId, id) : undefined;
        return {
          workspace_id: workspaceId,
          workspace_name: await findWorkspaceName(tx, workspaceId),
          role,
          email,
          inviter_name: inviter?.name ?? null,
        };
      })
    : undefined;
  if (link === undefined) throw ctx.failedAttempts.count(invalidInvitationMessage);
  return link;
}
