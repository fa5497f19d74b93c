import { type AuditEntry, auditExportQuery } from "@beckon/contract";
import { type Context, permit } from "../context.ts";
import { inWorkspace } from "../database/index.ts";
import { parseQuery } from "../parse.ts";
import { type BatchedValues, readInBatches } from "../read-in-batches.ts";
import { toEntry } from "./entry.ts";
import { listAuditRows } from "./store.ts";

/** Maximum rows per query. An export has only one batch in memory. */
const maxRows = 500;

/**
 * Returns the matching audit entries that exist when the export starts, newest first. Each batch is
 * read in its own transaction, so a slow reader keeps no transaction open. Ids grow with time, and
 * each batch has only ids below those of the batch before, so entries that are created during the
 * export are not included.
 *
 * @throws ApiError `forbidden` without the scope `audit:read`; `bad_request` for an invalid filter.
 */
export async function exportAudit({
  ctx,
  input,
}: {
  ctx: Context;
  input: { query: unknown };
}): Promise<BatchedValues<AuditEntry>> {
  permit(ctx, "audit:read");
  const filter = parseQuery(auditExportQuery, input.query);
  return readInBatches(maxRows, async (below, limit) => {
    const { rows, searchedTo } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
      listAuditRows(tx, ctx.workspaceId, filter, { below, limit }),
    );
    return {
      values: rows.map((row) => ({ id: row.id, value: toEntry(row) })),
      isLast: rows.length < limit && searchedTo === undefined,
      readTo: rows.length < limit ? searchedTo : undefined,
    };
  });
}
