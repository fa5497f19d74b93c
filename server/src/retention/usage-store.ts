import { daysBefore } from "../base/retention/index.ts";
import { inEachWorkspace } from "./in-each-workspace.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Deletes old entries of the usage ledger that are in the sums by day, and notes up to which time
 * entries were deleted: reports that need single entries from before then are rejected.
 */
export const oldUsageEntries: PrepareDeletion = (connection, { usageDays }, now) => {
  if (usageDays === 0) return undefined;
  const before = daysBefore(usageDays, now);
  return inEachWorkspace(connection, ({ id: workspaceId }) => {
    let from = "-infinity";
    return async (max) => {
      const { rows } = await connection.query<{
        deleted: number;
        read: number;
        last: string | null;
      }>({
        name: "prune-usage",
        text: `with old as materialized (
            select e.ctid, e.time from usage_entries e
            where e.workspace_id = $1 and e.time >= $2::timestamptz and e.time < $3
            order by e.time limit $4
          ), deleted as (
            -- Deleted by their ctid. With their primary key instead, PostgreSQL could compare each
            -- entry with each row of "old", if it planned the statement when the table was small.
            delete from usage_entries e
            where e.ctid = any (array(select ctid from old)) and e.transaction
              < (select up_to from usage_rollups where workspace_id = $1)
            returning e.time
          ), noted as (
            update usage_rollups
            set deleted_until = greatest(deleted_until, (select max(time) from deleted))
            where workspace_id = $1 and exists (select from deleted)
          )
          select (select count(*)::int from deleted) as deleted,
            (select count(*)::int from old) as read, (select max(time)::text from old) as last`,
        values: [workspaceId, from, before, max],
      });
      const { deleted = 0, read = 0, last } = rows[0] ?? {};
      // Entries that are not summed up stay, and are read again if they fill the whole batch.
      const isStuck = deleted === 0 && last === from;
      from = last ?? from;
      return { deleted: { usage_entries: deleted }, hasMore: read >= max && !isStuck };
    };
  });
};
