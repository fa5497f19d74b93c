import type { Database } from "../base/database/index.ts";
import { pendingLanes } from "./pending-lanes.ts";

/** Numbers about the deliveries of all workspaces. */
export interface DeliveryFigures {
  /** Number of pending deliveries, at most 100,000. */
  readonly pending: number;
  /**
   * Seconds by which the oldest due delivery is late; 0 if none is late. Events and tests of
   * subscriptions whose last attempt failed do not count: they are late because of their receiver.
   * Events become due only when the delay ends that their receiver has requested.
   */
  readonly overdueSeconds: number;
}

/** Counting more would read too many rows for a figure that is read every few seconds. */
const maxCounted = 100_000;

/** Returns the figures. Reads one delivery of each lane, and counts at most `maxCounted`. */
export async function readDeliveryFigures({ engine }: Database): Promise<DeliveryFigures> {
  const { rows } = await engine.query<DeliveryFigures>({
    name: "delivery-figures",
    text: `with recursive ${pendingLanes("oldest")}
      select (select count(*)::int from (
          select from deliveries where status = 'pending' limit $1) d) as pending,
        coalesce(greatest(0, extract(epoch from now() - min(
          case when o.kind = 'event' then greatest(o.next_at, s.not_before) else o.next_at end)
          filter (where s.failing_since is null or o.kind = 'callback'))), 0)::float8
          as "overdueSeconds"
      from oldest o left join subscriptions s on s.id = o.subscription_id`,
    values: [maxCounted],
  });
  return rows[0] ?? { pending: 0, overdueSeconds: 0 };
}
