import type { DisabledReason } from "@beckon/contract";
import { sql } from "kysely";
import type { Database, WorkspaceTransaction } from "../base/database/index.ts";
import { pendingLanes } from "./pending-lanes.ts";

interface SubscriptionRef {
  readonly id: string;
  readonly workspaceId: string;
}

/**
 * Disables an enabled subscription and returns its URL; undefined if it is not enabled.
 * @param version if given, a subscription with another version is not disabled.
 * @param minFailingSeconds if given, a subscription that has failed for a shorter time is not
 *   disabled.
 */
export function disableRow(
  tx: WorkspaceTransaction,
  {
    id,
    workspaceId,
    version,
    minFailingSeconds,
  }: SubscriptionRef & {
    readonly version?: number | undefined;
    readonly minFailingSeconds?: number | undefined;
  },
  reason: DisabledReason,
): Promise<{ url: string } | undefined> {
  let update = tx
    .updateTable("subscriptions")
    .set({
      status: "disabled",
      disabled_reason: reason,
      inactive_since: sql<Date>`now()`,
      updated_at: sql<Date>`now()`,
      version: sql<number>`version + 1`,
    })
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .where("status", "=", "enabled")
    .where("deleted_at", "is", null);
  if (version !== undefined) update = update.where("version", "=", version);
  if (minFailingSeconds !== undefined)
    update = update.where(
      "failing_since",
      "<",
      sql<Date>`now() - make_interval(secs => ${minFailingSeconds})`,
    );
  return update.returning("url").executeTakeFirst();
}

/** SQL that finds the lanes with pending deliveries. */
const pendingKinds = `with recursive ${pendingLanes("found")}`;

/** Maximum deliveries that one statement closes. */
const batchSize = 1_000;

/**
 * Closes up to 1,000 pending deliveries of subscriptions that are not enabled: `cancelled` if the
 * subscription was deleted, else `not_sent`. The operation that pauses or deletes a subscription
 * also closes its pending deliveries. This function closes those that concurrent transactions added
 * after that, and the deliveries of subscriptions that Beckon disabled.
 * @returns whether there may be more.
 */
export async function closeDeliveries({ engine }: Database): Promise<boolean> {
  const { rowCount } = await engine.query({
    name: "close-deliveries",
    text: `${pendingKinds}, closed as (
        select s.id, f.kind,
          case when s.deleted_at is null then 'not_sent' else 'cancelled' end as status
        from found f cross join lateral (
          select * from subscriptions s where s.id = f.subscription_id limit 1
        ) s
        where s.deleted_at is not null or s.status <> 'enabled'
      ), picked as materialized (
        select d.subscription_id, d.id, c.status from closed c cross join lateral (
          select d.subscription_id, d.id from deliveries d
          where d.subscription_id = c.id and d.kind = c.kind and d.status = 'pending'
          order by d.next_at limit ${batchSize}
        ) d limit ${batchSize}
      )
      update deliveries d set status = p.status, next_at = null, finished_at = now()
      from picked p
      where d.subscription_id = p.subscription_id and d.id = p.id
        and d.status is not distinct from 'pending'`,
    values: [],
  });
  return (rowCount ?? 0) >= batchSize;
}

/**
 * Returns SQL that ends at most 1,000 pending deliveries. `$1` is the text for `last_error`.
 * @param order the `order by` within one subscription and kind, optionally with an `offset`.
 * @param where a `where` clause on the subscription and kind `f`. Default: none.
 */
const endPending = (
  status: "failed" | "not_sent",
  { order, where = "" }: { readonly order: string; readonly where?: string },
) => `${pendingKinds}, picked as materialized (
    select d.subscription_id, d.id from found f cross join lateral (
      select d.subscription_id, d.id from deliveries d
      where d.subscription_id = f.subscription_id and d.kind = f.kind and d.status = 'pending'
      order by ${order} limit ${batchSize}
    ) d ${where} limit ${batchSize}
  )
  update deliveries d set status = '${status}', next_at = null, finished_at = now(), last_error = $1
  from picked p
  where d.subscription_id = p.subscription_id and d.id = p.id
    and d.status is not distinct from 'pending'`;

/**
 * Sets all pending deliveries to `not_sent` after the database was restored from a backup, because
 * they may have been sent since the backup was made. If the backup was restored only as a test, the
 * original installation still sends them. A person can replay them.
 * @returns how many were closed.
 */
export async function closeRestored({ engine }: Database): Promise<number> {
  for (let closed = 0; ; ) {
    const { rowCount } = await engine.query({
      name: "close-restored-deliveries",
      text: endPending("not_sent", { order: "d.next_at" }),
      values: ["Beckon was restored from a backup."],
    });
    closed += rowCount ?? 0;
    if ((rowCount ?? 0) === 0) return closed;
  }
}

/**
 * Fails pending callbacks and tests if a subscription has more than `max` of one of these kinds.
 * The `max` with the latest `next_at` stay pending. Up to 1,000 of the others are failed. Too many
 * pending events disable the subscription; too many callbacks or tests do not, because its own URL
 * can accept events meanwhile.
 * @returns how many were failed. There may be more unless it is 0.
 */
export async function failExcess({ engine }: Database, max: number): Promise<number> {
  const { rowCount } = await engine.query({
    name: "fail-excess-deliveries",
    text: endPending("failed", {
      // The offset keeps the deliveries with the latest next_at. Those whose attempt is in progress
      // are usually among them, because a claim moves next_at to a later time.
      order: "d.next_at desc offset $2",
      where: "where f.kind <> 'event'",
    }),
    values: [`More than ${max.toLocaleString("en")} deliveries of this kind were pending.`, max],
  });
  return rowCount ?? 0;
}

/** Returns the enabled subscriptions that have more than `max` pending deliveries of events. */
export async function findBacklogs({ engine }: Database, max: number): Promise<SubscriptionRef[]> {
  const { rows } = await engine.query<SubscriptionRef>({
    name: "find-delivery-backlogs",
    text: `${pendingKinds}
      select s.id, s.workspace_id as "workspaceId"
      from found f cross join lateral (
        select * from subscriptions s
        where s.id = f.subscription_id and s.deleted_at is null and s.status = 'enabled' limit 1
      ) s
      where f.kind = 'event' and exists (
        select from deliveries d
        where d.subscription_id = f.subscription_id and d.kind = f.kind and d.status = 'pending'
        order by d.next_at offset $1 limit 1)`,
    values: [max],
  });
  return rows;
}
