import { type AuditEntry, auditExportQuery } from "@beckon/contract";
import { type Context, permit } from "../context.ts";
import { inWorkspace } from "../database/index.ts";
import { parseQuery } from "../parse.ts";
import { toEntry } from "./entry.ts";
import { listAuditRows } from "./store.ts";

/** Rows read at a time: what an export holds in memory, however long it is. */
const batch = 500;

/**
 * All that the filter finds, newest first, as it stood when the export began: entries are only ever added, and those come before the first.
 * Each batch is a transaction of its own, so that a slow reader holds none open. The first is read before this resolves: what cannot
 * be exported is refused, not broken off.
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
