/**
 * Returns SQL of a recursive table expression with the earliest `next_at` of each lane, which is a
 * subscription and a kind of delivery. It is a loose index scan: it reads one row per lane, however
 * many deliveries are pending.
 */
export const pendingLanes = (name: string) => `${name} (subscription_id, kind, next_at) as (
  (select subscription_id, kind, next_at from deliveries where status = 'pending'
    order by subscription_id, kind, next_at limit 1)
  union all
  select following.* from ${name} lane, lateral (
    select subscription_id, kind, next_at from deliveries
    where status = 'pending' and (subscription_id, kind) > (lane.subscription_id, lane.kind)
    order by subscription_id, kind, next_at limit 1
  ) as following
)`;
