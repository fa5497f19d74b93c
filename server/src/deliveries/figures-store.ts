import type { Database } from "../base/database/index.ts";

/** Numbers about the deliveries of all workspaces. */
export interface DeliveryFigures {
  readonly pending: number;
  /**
   * Seconds by which the oldest due delivery is late; 0 if none is late. Subscriptions whose last
   * attempt failed, or whose receiver has requested a delay, do not count: their deliveries are
   * late because of their receiver.
   */
  readonly overdueSeconds: number;
}

/**
 * Returns the figures. The query is cheap: it finds deliveries through the partial index of pending
 * deliveries, which is small.
 */
export async function readDeliveryFigures({ engine }: Database): Promise<DeliveryFigures> {
  const { rows } = await engine.query<DeliveryFigures>({
    name: "delivery-figures",
    text: `select count(*)::int as pending,
        coalesce(greatest(0, extract(epoch from now() - min(d.next_at)
          filter (where s.failing_since is null
            and (s.not_before is null or s.not_before <= now())))), 0)::float8 as "overdueSeconds"
      from deliveries d left join subscriptions s on s.id = d.subscription_id
      where d.status = 'pending'`,
  });
  return rows[0] ?? { pending: 0, overdueSeconds: 0 };
}
