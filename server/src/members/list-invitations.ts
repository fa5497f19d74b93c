import type { Invitation } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { attempt } from "../base/errors.ts";
import { type Page, readPage } from "../base/page.ts";
import { toInvitation } from "./invitation.ts";
import { listInvitationRows } from "./invitation-store.ts";
import { findIssuers } from "./issuer.ts";
import { permitInvitation } from "./valid-invitation.ts";

/**
 * Returns one page of the invitations that were neither accepted nor withdrawn, newest first.
 * Invitations that expired, or whose issuer can no longer invite, are included as not valid.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listInvitations({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Invitation>> {
  permit(ctx, "members:read");
  const page = readPage(input.query, { list: "invitations", workspace: ctx.workspaceId });
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const rows = await listInvitationRows(tx, ctx.workspaceId, page);
    const principals = rows.map((row) => row.created_by);
    const issuers = await findIssuers(tx, ctx.workspaceId, principals);
    const isValid = ({ lives, created_by, role }: (typeof rows)[number]) => {
      const actor = issuers.get(created_by);
      return lives && actor !== undefined && attempt(() => permitInvitation({ actor }, role)).ok;
    };
    return page.page(rows.map((row) => toInvitation(row, isValid(row))));
  });
}
