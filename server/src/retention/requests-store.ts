import { daysBefore } from "../base/retention/index.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Maximum number of requests per event that lose their content with one request. A sender that
 * uses the same event id for all its requests could otherwise make a statement very long.
 */
const maxCopies = 1_000;

/**
 * Returns SQL that selects the `ctid` of received requests without a run whose content is also that
 * of a deleted run: the originals of replays, and other requests with the same event. It leaves out
 * requests that another transaction has locked, because two deletions could otherwise deadlock; the
 * other transaction deletes the content, too.
 * @param requests name of a CTE with `trigger_id`, `event_id` and `replay_of` of the runs' requests
 */
export function requestsWithoutRun(requests: string): string {
  // The limits also make PostgreSQL look up each request in an index. Without them, it could choose
  // a join that reads the whole table.
  return `select c.ctid from ${requests} e cross join lateral (
      select q.ctid from received_requests q
      where q.trigger_id = e.trigger_id and q.id = e.replay_of and q.run_id is null
      limit 1 for update skip locked
    ) c
    union all
    select c.ctid from ${requests} e cross join lateral (
      select q.ctid from received_requests q
      where q.trigger_id = e.trigger_id and q.event_id = e.event_id
        and q.run_id is null and q.event_id is not null and q.body is not null
      limit ${maxCopies} for update skip locked
    ) c`;
}

/**
 * Deletes the received requests of triggers that were deleted: nothing can read them any more.
 * Triggers cannot be restored. Not done by the deletion of the trigger itself, because a trigger
 * can have millions of requests.
 */
export const requestsOfDeletedTriggers: PrepareDeletion = (connection, { requestsDays }, now) => {
  // The requests of triggers that were deleted earlier are older than their retention. A day more,
  // because a request can be written after the deletion.
  const since = requestsDays === 0 ? "-infinity" : daysBefore(requestsDays + 1, now);
  // With an empty `id`, the next batch begins with the trigger after `trigger`.
  let after = { trigger: "", id: "" };
  return async (max) => {
    const { rows } = await connection.query<{
      deleted: number;
      requests: number;
      triggers: number;
      trigger: string | null;
      id: string | null;
      last_trigger: string | null;
    }>({
      name: "prune-requests-of-deleted-triggers",
      text: `with gone as materialized (
          select workspace_id, id from triggers
          where id >= $1 and (id > $1 or $2 <> '') and deleted_at >= $3::timestamptz
          order by id limit $4
        ), old as materialized (
          select r.trigger_id, r.id, r.ctid from gone g cross join lateral (
            select r.trigger_id, r.id, r.ctid from received_requests r
            where r.trigger_id = g.id and r.id > case when g.id = $1 then $2 else '' end
            order by r.id limit $4
          ) r limit $4
        ), deleted as (
          delete from received_requests where ctid = any (array(select ctid from old)) returning 1
        ), last as (
          select trigger_id, id from old order by trigger_id desc, id desc limit 1
        )
        select (select count(*)::int from deleted) as deleted,
          (select count(*)::int from old) as requests,
          (select count(*)::int from gone) as triggers,
          (select trigger_id from last) as trigger, (select id from last) as id,
          (select max(id) from gone) as last_trigger`,
      values: [after.trigger, after.id, since, max],
    });
    const { deleted = 0, requests = 0, triggers = 0, trigger, id, last_trigger } = rows[0] ?? {};
    const isPartial = requests >= max;
    if (isPartial && trigger != null && id != null) after = { trigger, id };
    else if (last_trigger != null) after = { trigger: last_trigger, id: "" };
    return { deleted: { received_requests: deleted }, hasMore: isPartial || triggers >= max };
  };
};
