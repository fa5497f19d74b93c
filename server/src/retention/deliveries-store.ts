import { lowestIdAt } from "../base/ids.ts";
import { daysBefore } from "../base/retention/index.ts";
import type { PrepareDeletion } from "./kinds.ts";

/**
 * Days for which a delivery stays after it has ended. Its last attempt can be days after the event:
 * without this time, a delivery that failed could be deleted before anyone sees it. Only tests set
 * a shorter retention; a delivery then stays that long after its end.
 */
const minDaysAfterEnd = 1;

/**
 * Deletes deliveries of old events, with their attempts. A pending delivery stays until it has
 * succeeded or failed, and for a day more.
 */
export const oldDeliveries: PrepareDeletion = (connection, { deliveriesDays }, now) => {
  if (deliveriesDays === 0) return undefined;
  // Ids of deliveries begin with the time of their event, so a lower id is an earlier event.
  const before = lowestIdAt("dlv", daysBefore(deliveriesDays, now));
  const endedBefore = daysBefore(Math.min(minDaysAfterEnd, deliveriesDays), now);
  let after = { subscription: "", id: "" };
  return async (max) => {
    const { rows } = await connection.query<{
      deleted: number;
      subscription: string | null;
      id: string | null;
    }>({
      name: "prune-deliveries",
      // A loose index scan: it reads one row for each subscription, and the rows to delete.
      text: `with recursive found (subscription_id) as (
          (select subscription_id from deliveries where subscription_id >= $2
            order by subscription_id limit 1)
          union all
          select following.* from found f, lateral (
            select subscription_id from deliveries where subscription_id > f.subscription_id
            order by subscription_id limit 1
          ) as following
        ), old as materialized (
          select d.subscription_id, d.id, d.ctid from found f cross join lateral (
            select d.subscription_id, d.id, d.ctid from deliveries d
            where d.subscription_id = f.subscription_id and d.id < $1 and d.finished_at < $5
              and d.id > case when f.subscription_id = $2 then $3 else '' end
            order by d.id limit $4
          ) d limit $4
        ), deleted as (
          -- Deleted by their ctid. With their primary key instead, PostgreSQL could compare each
          -- delivery with each row of "old", if it planned the statement when the table was small.
          delete from deliveries d
          where d.ctid = any (array(select ctid from old)) and d.finished_at < $5
          returning d.subscription_id, d.id
        ), attempts as (
          delete from delivery_attempts where ctid = any (array(
            -- With "offset 0", PostgreSQL looks up the attempts of each delivery in the index.
            -- Without it, PostgreSQL could choose a join that reads the whole table.
            select a.ctid from deleted o cross join lateral (
              select a.ctid from delivery_attempts a
              where a.subscription_id = o.subscription_id and a.delivery_id = o.id offset 0
            ) a
          ))
        ), last as (
          select subscription_id, id from old order by subscription_id desc, id desc limit 1
        )
        select (select count(*)::int from deleted) as deleted,
          (select subscription_id from last) as subscription, (select id from last) as id`,
      values: [before, after.subscription, after.id, max, endedBefore],
    });
    const { deleted = 0, subscription, id } = rows[0] ?? {};
    if (subscription != null && id != null) after = { subscription, id };
    return { deleted: { deliveries: deleted }, hasMore: subscription != null };
  };
};
