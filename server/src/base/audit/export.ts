import { type AuditEntry, auditExportQuery } from "@beckon/contract";
import { type Context, permit } from "../context.ts";
import { inWorkspace } from "../database/index.ts";
import { parseQuery } from "../parse.ts";
import { toEntry } from "./entry.ts";
import { listAuditRows } from "./store.ts";

/** Rows per query. This bounds the memory of an export. */
const batch = 500;

/**
 * Returns all matching audit entries, newest first, as of the start of the export: entries are only
 * added, and new ones sort before the first. Each batch is its own transaction, so a slow reader
 * holds none open. The first batch is read before this resolves, so that an error gets an error
 * response instead of a truncated download.
 *
 * @throws ApiError `forbidden` without the scope `audit:read`; `bad_request` for an invalid filter.
 */
export async function exportAudit({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<AsyncIterable<AuditEntry>> {
  permit(ctx, "audit:read");
  const filter = parseQuery(auditExportQuery, input.query);
  const read = (below: string | undefined) =>
    inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
      listAuditRows(tx, ctx.workspaceId, filter, { below, limit: batch }),
    );
  const first = await read(undefined);
  return (async function* () {
    for (let rows = first; ; rows = await read(rows.at(-1)?.id)) {
      yield* rows.map(toEntry);
      if (rows.length < batch) return;
    }
  })();
}
