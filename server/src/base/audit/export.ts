import { type AuditEntry, auditExportQuery } from "@beckon/contract";
import { type Context, permit } from "../context.ts";
import { inWorkspace } from "../database/index.ts";
import { parseQuery } from "../parse.ts";
import { toEntry } from "./entry.ts";
import { listAuditRows } from "./store.ts";

/** Rows per query. An export has only one batch in memory. */
const batch = 500;

/**
 * Returns the matching audit entries that exist when the export starts, newest first. Each batch is
 * read in its own transaction, so a slow reader keeps no transaction open. Ids grow with time, and
 * each batch has only ids below those of the batch before, so entries that are created during the
 * export are not included. The first batch is read before this function resolves, so that an error
 * leads to an error response and not to a truncated download.
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
