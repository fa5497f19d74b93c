import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { defaultDeliveryLimits } from "../deliveries/index.ts";

/** One more than the sender accepts: above `maxPending` it disables the subscription. */
const maxCountedPending = defaultDeliveryLimits.maxPending + 1;
const maxCountedFailures = 10_000;

/**
 * The results of a subscription's attempts, and the numbers of its deliveries: `pending` counts up
 * to 100,001, and `failed` counts those of the last 24 hours, up to 10,000. `next_at` is the time
 * of the next attempt of a pending delivery.
 */
export interface Health {
  readonly last_success_at: Date | null;
  readonly last_failure_at: Date | null;
  readonly failing_since: Date | null;
  readonly last_error: string | null;
  readonly pending: number;
  readonly next_at: Date | null;
  readonly failed: number;
}

/** The health of a subscription without deliveries. */
export const noDeliveries: Health = {
  last_success_at: null,
  last_failure_at: null,
  failing_since: null,
  last_error: null,
  pending: 0,
  next_at: null,
  failed: 0,
};

/**
 * Reads the health of subscriptions, by subscription id. Results and numbers are read by one
 * statement. Otherwise an attempt that ends between two statements would be missing in both: its
 * delivery would no longer be pending, and its result would not be there yet.
 */
export async function readHealth(
  tx: WorkspaceTransaction,
  workspaceId: string,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, Health>> {
  if (subscriptionIds.length === 0) return new Map();
  const { rows } = await sql<Health & { id: string }>`
    select s.id, s.last_success_at, s.last_failure_at, s.failing_since, s.last_error,
      (select count(*)::int from (select from deliveries d where d.subscription_id = s.id
        and d.status = 'pending' limit ${maxCountedPending}) d) as pending,
      -- One lookup per kind, because the index of pending deliveries has the kind before the time.
      (select min(case when k.kind = 'event' then greatest(d.next_at, s.not_before)
          else d.next_at end) from (values ('event'), ('callback'), ('test')) k (kind), lateral (
        select d.next_at from deliveries d where d.subscription_id = s.id and d.kind = k.kind
          and d.status = 'pending' order by d.next_at limit 1) d) as next_at,
      (select count(*)::int from (select from deliveries d where d.subscription_id = s.id
        and d.status = 'failed' and d.finished_at > now() - interval '24 hours'
        limit ${maxCountedFailures}) d) as failed
    from subscriptions s
    where s.workspace_id = ${workspaceId} and s.id = any (${[...subscriptionIds]}::text[])`.execute(
    tx,
  );
  return new Map(rows.map(({ id, ...health }) => [id, health]));
}
