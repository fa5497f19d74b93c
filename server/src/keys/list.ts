import type { Key } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toKey } from "./key.ts";
import { listKeyRows } from "./store.ts";

/** Keys of the workspace, expired ones too; who is limited to agents sees those that are limited to some of these. */
export async function listKeys({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Key>> {
  permit(ctx, "keys:read");
  const reach = agentLimit(ctx);
  const page = readPage(input.query, { list: "keys", workspace: ctx.workspaceId, reach });
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listKeyRows(tx, ctx.workspaceId, reach, page),
  );
  return page.page(rows.map(toKey));
}
