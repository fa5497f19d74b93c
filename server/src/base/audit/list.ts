import { type AuditEntry, auditQuery } from "@beckon/contract";
import { type Context, permit } from "../context.ts";
import { inWorkspace } from "../database/index.ts";
import { type Page, readPage } from "../page.ts";
import { parseQuery } from "../parse.ts";
import { toEntry } from "./entry.ts";
import { listAuditRows } from "./store.ts";

/**
 * Returns a page of the workspace's audit log, newest first. With several of the filters actor,
 * action and target, a page searches a limited number of entries: it can have fewer than `limit`,
 * or none, although there are more.
 *
 * @throws ApiError `forbidden` without the scope `audit:read`; `bad_request` for an invalid query.
 */
export async function listAudit({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<Page<AuditEntry>> {
  permit(ctx, "audit:read");
  const { limit, after, ...filter } = parseQuery(auditQuery, input.query);
  const page = readPage({ limit, after }, { list: "audit", workspace: ctx.workspaceId, ...filter });
  const { below } = page;
  const { rows, searchedTo } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    listAuditRows(tx, ctx.workspaceId, filter, { below, limit: limit + 1 }),
  );
  return page.page(rows.map(toEntry), searchedTo);
}
