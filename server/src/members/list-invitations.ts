import type { Invitation } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toInvitation } from "./invitation.ts";
import { listInvitationRows } from "./invitation-store.ts";

/**
 * Returns one page of the invitations that were neither accepted nor withdrawn, newest first.
 * Expired invitations are included.
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
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listInvitationRows(tx, ctx.workspaceId, page),
  );
  return page.page(rows.map(toInvitation));
}
