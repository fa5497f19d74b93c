import type { Database } from "../../base/database/index.ts";
import { type AppendResult, type AppendRow, statusAfter } from "./append-row.ts";

/**
 * Finds out why a row was not written. An earlier call whose reply was lost may have written it.
 * The result is then `written`, but only if the caller can act on it: the run must still be its
 * own, unless the row itself ended, released or held the run.
 */
export async function findReason(database: Database, row: AppendRow): Promise<AppendResult> {
  const { rows } = await database.engine.query<{ ours: Date | null; own: boolean; stop: boolean }>({
    name: "append-find-reason",
    text: `select
        (select e.time from events e where e.run_id = r.id and e.seq = $3 and e.id = $4) as ours,
        r.status = 'running' and r.owner = $5 and r.fence = $6
          and exists (select from processes p where p.id = $5 and p.died_at is null) as own,
        r.last_seq = $3 - 1 and r.cancel_requested_at is not null as stop
      from runs r where r.id = $1 and r.workspace_id = $2`,
    values: [row.runId, row.workspaceId, row.lastSeq + 1, row.entries[0]?.id, row.owner, row.fence],
  });
  const { ours = null, own = false, stop = false } = rows[0] ?? {};
  const isLast = statusAfter(row) !== null;
  if (ours !== null && (own || isLast)) return { kind: "written", time: ours.toISOString() };
  return { kind: own && stop ? "cancelled" : "fenced" };
}
