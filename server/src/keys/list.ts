import type { Key } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { type Page, readPage } from "../base/page.ts";
import { toKey } from "./key.ts";
import { listKeyRows } from "./store.ts";

/**
 * Returns one page of the workspace's keys, including expired ones, newest first. An actor that is
 * limited to agents sees only keys that are limited to a subset of these agents.
 * @throws ApiError `bad_request`, `forbidden`
 */
export async function listKeys({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<Key>> {
  permit(ctx, "keys:read");
  const agentIds = agentLimit(ctx);
  const page = readPage(input.query, {
    list: "keys",
    workspace: ctx.workspaceId,
    reach: agentIds,
  });
  const rows = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listKeyRows(tx, ctx.workspaceId, agentIds, page),
  );
  return page.page(rows.map(toKey));
}
