import type { Member } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toMember } from "./member.ts";
import { listMemberRows } from "./store.ts";

/**
 * Returns one page of the workspace's members. Members with the newest accounts come first.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listMembers({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Member>> {
  permit(ctx, "members:read");
  const page = readPage(input.query, { list: "members", workspace: ctx.workspaceId });
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listMemberRows(tx, ctx.workspaceId, page),
  );
  return page.page(rows.map(toMember));
}
