import { sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";

/**
 * The sender disables a subscription that has more pending deliveries of events than this
 * (`maxPending` in deliveries/sender.ts). Counting stops at one more.
 */
const maxPending = 100_000;
const maxCountedFailures = 10_000;
const maxCountedMissed = 100_000;

/** The results of a subscription's attempts, and the numbers of its deliveries. */
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
export const unused: Health = {
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
        and d.status = 'pending' limit ${maxPending + 1}) d) as pending,
      -- One lookup per kind, because the index of pending deliveries has the kind before the time.
      (select min(d.next_at) from (values ('event'), ('callback'), ('test')) k (kind), lateral (
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

/**
 * Counts the deliveries that were not sent since `inactiveSince`, and those that failed for good
 * since `failingSince` (null: since `inactiveSince`).
 * @returns `deliveries`: the number, at most 100,000. `oldest`: the id of the oldest one, even if
 *   there are more than 100,000; undefined if there is none.
 */
export async function countMissed(
  tx: WorkspaceTransaction,
  subscription: { readonly id: string; readonly workspace_id: string },
  { inactiveSince, failingSince }: { inactiveSince: Date; failingSince: Date | null },
): Promise<{ deliveries: number; oldest: string | undefined }> {
  const missed = (status: string, since: Date, order: string, limit: number) => sql`(
    select id from deliveries
    where subscription_id = ${subscription.id} and workspace_id = ${subscription.workspace_id}
      and status = ${sql.lit(status)} and finished_at >= ${since} and kind <> 'test'
    order by ${sql.ref(order)} limit ${limit})`;
  const all = (order: string, limit: number) => sql`(
    ${missed("not_sent", inactiveSince, order, limit)} union all
    ${missed("failed", failingSince ?? inactiveSince, order, limit)})`;
  // Read in order of finished_at, so that deliveries that were missed at an earlier time are not
  // read. A range of ids cannot exclude these: ids have the time of the event, and the delivery of
  // an old event can be replayed and missed again.
  const { rows } = await sql<{ deliveries: number; oldest: string | null }>`
    select least(count(*), ${maxCountedMissed})::int as deliveries,
      case when count(*) < ${maxCountedMissed} then min(id)
        else (select min(id) from ${all("id", 1)} d) end as oldest
    from ${all("finished_at", maxCountedMissed)} d`.execute(tx);
  return { deliveries: rows[0]?.deliveries ?? 0, oldest: rows[0]?.oldest ?? undefined };
}
