import { daysBefore, restorableDays } from "../base/retention/index.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * SQL condition that a run of the ceiling `g` has this status. Each status has an index. Without
 * the `limit` and the `offset`, PostgreSQL could choose joins that read all runs.
 */
const hasRun = (status: "queued" | "waiting" | "running") => `exists (
            select from runs r cross join lateral (
              select * from run_inputs i
              where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
            ) i
            where r.workspace_id = g.workspace_id and r.status = '${status}'
              and case g.scope_kind when 'key' then i.principal = 'key:' || g.scope_id
                when 'trigger' then i.trigger_id = g.scope_id else r.agent_id = g.scope_id end
            offset 0)`;

/**
 * Deletes the ceilings, with their budgets, of keys and triggers that were deleted, and of agents
 * that can no longer be restored. Otherwise their workspaces would count as limited for ever. Not
 * done by the deletion of the key or trigger itself: its runs continue, and the ceiling limits them
 * until they have ended.
 */
export const ceilingsOfDeleted: PrepareDeletion = (connection, _retention, now) => async (max) => {
  const { rowCount } = await connection.query({
    name: "prune-ceilings",
    text: `with gone as materialized (
          select c.workspace_id, c.scope_kind, c.scope_id from ceilings c
          where case c.scope_kind
            when 'key' then not exists (
              select from keys k where k.id = c.scope_id and k.workspace_id = c.workspace_id)
            when 'trigger' then exists (
              select from triggers t
              where t.id = c.scope_id and t.workspace_id = c.workspace_id
                and (t.deleted_at is not null or exists (
                  select from agents a where a.id = t.agent_id
                    and a.workspace_id = t.workspace_id and a.deleted_at < $1)))
            when 'agent' then exists (
              select from agents a where a.id = c.scope_id and a.workspace_id = c.workspace_id
                and a.deleted_at < $1)
            else false end
        ), ended as materialized (
          select * from gone g
          where not ${hasRun("queued")}
            and not ${hasRun("waiting")}
            and not ${hasRun("running")}
          order by g.workspace_id, g.scope_id, g.scope_kind limit $2
        ), locked as materialized (
          -- In the order in which all transactions lock budgets.
          select b.id from budgets b join ended e on b.workspace_id = e.workspace_id
            and b.scope_id = e.scope_id and b.scope_kind = e.scope_kind
          order by b.workspace_id, b.scope_id, b.scope_kind, b.metric for update of b
        ), budget as (
          delete from budgets b using locked l where b.id = l.id
        )
        delete from ceilings c using ended e
        where c.workspace_id = e.workspace_id and c.scope_kind = e.scope_kind
          and c.scope_id = e.scope_id
          -- Makes this statement lock budgets before ceilings, as a change of a ceiling does.
          and (select count(*) from locked) >= 0`,
    values: [daysBefore(restorableDays, now), max],
  });
  const deleted = rowCount ?? 0;
  return { deleted: { ceilings: deleted }, hasMore: deleted >= max };
};
