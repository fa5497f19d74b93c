import { daysBefore, restorableDays } from "../base/retention/index.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Deletes the secrets of agents that were deleted so long ago that they cannot be restored, and the
 * sender secrets of their triggers. The secrets of a trigger that was deleted itself are deleted
 * with it.
 */
export const secretsOfDeletedAgents: PrepareDeletion = (connection, _retention, now) => {
  const before = daysBefore(restorableDays, now);
  let after = { time: "-infinity", id: "" };
  return async (max) => {
    const { rows } = await connection.query<{
      deleted: number;
      agents: number;
      time: string | null;
      id: string | null;
    }>({
      name: "prune-secrets",
      text: `with old as materialized (
          select workspace_id, id, deleted_at from agents
          where (deleted_at, id) > ($1::timestamptz, $2) and deleted_at < $3
          order by deleted_at, id limit $4
        ), deleted as (
          delete from agent_secrets s using old
          where s.agent_id = old.id and s.workspace_id = old.workspace_id returning 1
        ), cleared as (
          update triggers t set sender_secret = null, previous_sender_secret = null,
            previous_sender_secret_until = null, verify_token = null
          from old
          where t.agent_id = old.id and t.workspace_id = old.workspace_id and t.deleted_at is null
            and coalesce(t.sender_secret, t.previous_sender_secret, t.verify_token) is not null
          returning 1
        )
        select (select count(*)::int from deleted) + (select count(*)::int from cleared) as deleted,
          (select count(*)::int from old) as agents,
          (select max(deleted_at)::text from old) as time,
          (select id from old order by deleted_at desc, id desc limit 1) as id`,
      values: [after.time, after.id, before, max],
    });
    const { deleted = 0, agents = 0, time, id } = rows[0] ?? {};
    if (time != null && id != null) after = { time, id };
    return { deleted: { secrets: deleted }, hasMore: agents >= max };
  };
};
