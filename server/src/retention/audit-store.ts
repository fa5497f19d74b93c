import { lowestIdAt } from "../base/ids.ts";
import { daysBefore } from "../base/retention/index.ts";
import { inEachWorkspace } from "./in-each-workspace.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Deletes audit entries that were older than their retention at the beginning of the day (UTC), and
 * writes an audit entry for each batch. If the current time were used instead of the beginning of
 * the day, every pass would find a few old entries and write another audit entry.
 */
export const oldAuditEntries: PrepareDeletion = (connection, { auditDays }, now) => {
  if (auditDays === 0) return undefined;
  const today = new Date(new Date(now).setUTCHours(0, 0, 0, 0));
  const before = daysBefore(auditDays, today);
  return inEachWorkspace(connection, ({ id: workspaceId }) => {
    let after = "";
    return async (max) => {
      const { rows } = await connection.query<{ deleted: number; last: string | null }>({
        name: "prune-audit",
        text: `with old as materialized (
            -- Workspace and id are compared as a pair, for which PostgreSQL can use only the index
            -- audit_by_workspace.
            select a.id from audit a
            where (a.workspace_id, a.id) > ($1, $2) and (a.workspace_id, a.id) < ($1, $3)
            order by a.workspace_id, a.id limit $5
          ), deleted as (
            -- The column time is compared too, because it can differ from the time in the id. A
            -- database trigger rejects the whole statement if the time of an entry is too recent.
            delete from audit a
            where a.id = any (array(select id from old)) and a.workspace_id = $1 and a.time < $4
            returning 1
          ), recorded as (
            insert into audit (id, workspace_id, actor, action, target, data)
            select new_id('aud'), $1, 'system', 'audit.prune', $1,
              jsonb_build_object('before', $6::text, 'deleted', count(*))
            from deleted having count(*) > 0
          )
          select (select count(*)::int from deleted) as deleted, (select max(id) from old) as last`,
        values: [workspaceId, after, lowestIdAt("aud", before), before, max, before.toISOString()],
      });
      const { deleted = 0, last } = rows[0] ?? {};
      after = last ?? after;
      return { deleted: { audit: deleted }, hasMore: last != null };
    };
  });
};
