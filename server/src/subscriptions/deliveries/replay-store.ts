import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { defaultDeliveryLimits } from "../../deliveries/index.ts";
import { aboutAgents, type DeliveryKey } from "./store.ts";

/**
 * SQL that makes a delivery pending again and due now. All attempts start over, so the status and
 * the error of the last attempt are cleared. If the delivery was stored without data, for example
 * while the subscription was paused, its next claim reads the data of its event.
 *
 * While an attempt is in progress, `claims` is not 0, and `next_at` is its lease. If `next_at` were
 * changed then, the delivery would be sent twice at the same time, and the outcome of the attempt
 * would not be recorded. So it stays, and the attempt counts as the first one.
 */
const pendingAgain = sql`status = 'pending', attempts = 0,
  next_at = case when status = 'pending' and claims > 0 then next_at else now() end,
  finished_at = null, last_status = null, last_error = null`;

/**
 * SQL that locks the runs of deliveries, so that they are not deleted at the same time. Without the
 * lock, a delivery of a run that another transaction has just deleted could become pending.
 */
const keptRuns = (ids: readonly string[], { workspaceId, subscriptionId }: ReplayedFrom) => sql`
  kept_runs as materialized (
    select r.id from runs r where r.workspace_id = ${workspaceId} and r.id = any (array(
      select d.run_id from deliveries d where d.subscription_id = ${subscriptionId}
        and d.workspace_id = ${workspaceId} and d.id = any (${[...ids]}::text[])
        and d.kind <> 'test'))
    order by r.id for key share
  )`;
const isKept = sql`(d.run_id is null or d.kind = 'test' or d.run_id in (select id from kept_runs))`;

/**
 * Returns the SQL condition that a delivery `d` can be replayed: it is no test, its run was not
 * deleted, and it is no callback to another origin than that of the subscription's URL, because the
 * subscription's secret is not for that origin.
 * @param origin of the subscription's URL.
 */
export const isReplayable = (origin: string) => sql`(d.kind <> 'test'
  and (d.run_id is null or exists (select from runs r
    where r.id = d.run_id and r.workspace_id = d.workspace_id))
  -- Callbacks store URLs as URL.href writes them, so origins can be compared as text.
  and (d.callback_url is null or substring(d.callback_url from '^https?://[^/?#]+') = ${origin}))`;

/**
 * SQL condition that a delivery `d` has ended, or waits for its next attempt after a failed one.
 * While an attempt is in progress, `claims` is not 0.
 */
const isWaitingOrEnded = sql`(d.status in ('failed', 'not_sent', 'succeeded')
  or (d.status = 'pending' and d.attempts > 0 and d.claims = 0 and d.next_at > now()))`;

type ReplayedFrom = Omit<DeliveryKey, "deliveryId">;

/**
 * Makes a delivery pending again, unless its run was deleted. If an attempt is in progress, its
 * outcome decides whether the delivery is sent again.
 */
export async function replayDeliveryRow(
  tx: WorkspaceTransaction,
  { deliveryId, ...key }: DeliveryKey,
): Promise<void> {
  const { workspaceId, subscriptionId } = key;
  await sql`with ${keptRuns([deliveryId], key)}
    update deliveries d set ${pendingAgain}
    where ${isKept} and d.subscription_id = ${subscriptionId} and d.id = ${deliveryId}
      and d.workspace_id = ${workspaceId}`.execute(tx);
}

/** Returns the number of pending deliveries of a subscription, at most `max`. */
export async function countPending(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId }: ReplayedFrom,
  max: number,
): Promise<number> {
  const { rows } = await sql<{ pending: number }>`select count(*)::int as pending from (
    select from deliveries where subscription_id = ${subscriptionId}
      and workspace_id = ${workspaceId} and status = 'pending' limit ${max}) d`.execute(tx);
  return rows[0]?.pending ?? 0;
}

/** The deliveries to replay, with ids from `from` (inclusive) to `below` (exclusive). */
export interface ReplayRange {
  /** `missed`: those that failed, were not sent or wait; `all`: also those that succeeded. */
  readonly which: "missed" | "all";
  /** The agents to which the caller is limited; undefined if it is not limited. */
  readonly agentIds: readonly string[] | undefined;
  readonly from: string;
  readonly below: string;
  /** Origin of the subscription's URL. */
  readonly origin: string;
}

/** A delivery that can be replayed. */
export interface Replayable {
  readonly id: string;
  /** Whether it waits for its next attempt, so that it is pending already. */
  readonly is_waiting: boolean;
}

/**
 * Maximum deliveries that a replay or a count reads, including those that it leaves out. It is the
 * maximum of a kind that the sender lets stay pending, so all pending ones are read.
 */
export const maxReadDeliveries = defaultDeliveryLimits.maxPending;

/**
 * Returns the newest `limit` deliveries in the range that wait for their next attempt or have
 * ended, and can be replayed, newest first. Reads only the newest `maxReadDeliveries` of the range
 * and, for `missed`, at most `maxReadDeliveries` events and as many callbacks that are pending.
 * @returns `lastRead`: the oldest delivery that was read, if older ones of the range may be left;
 *   undefined if `limit` deliveries were found or all were read.
 */
export async function selectReplayable(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId }: ReplayedFrom,
  { agentIds, from, below, origin, which }: ReplayRange,
  limit: number,
): Promise<{ found: Replayable[]; lastRead: string | undefined }> {
  const ofSubscription = sql`
    select d.id, d.kind, d.run_id, d.workspace_id, d.agent_id, d.callback_url, d.status,
      d.attempts, d.claims, d.next_at
    from deliveries d
    where d.subscription_id = ${subscriptionId} and d.workspace_id = ${workspaceId}`;
  const inRange = sql`d.id >= ${from} and d.id < ${below}`;
  const newest = (ofStatus: RawBuilder<unknown>) => sql`(
    ${ofSubscription} ${ofStatus} and ${inRange} order by d.id desc limit ${maxReadDeliveries})`;
  // The index of pending deliveries is read once per kind, because it has the kind before the time.
  // It does not have the ids. If the range were checked before the limit, PostgreSQL could read all
  // deliveries of the range by their ids instead.
  const waiting = (kind: "event" | "callback") => sql`(
    select * from (
      ${ofSubscription} and d.kind = ${sql.lit(kind)} and d.status = 'pending'
        and d.next_at > now()
      order by d.next_at limit ${maxReadDeliveries}) d
    where ${inRange})`;
  // The index of missed deliveries is read once per status, because only then it has the order of
  // the ids. It does not contain the others, so `all` reads the primary key. There the status is
  // checked after the limit, which would otherwise not limit how many rows are read.
  const read =
    which === "all"
      ? newest(sql``)
      : sql`(${newest(sql`and d.status = 'failed'`)}
          union all ${newest(sql`and d.status = 'not_sent'`)}
          union all ${waiting("event")} union all ${waiting("callback")})`;
  const { rows: found } = await sql<Replayable>`
    select d.id, d.status = 'pending' as is_waiting
    from (select * from ${read} d order by id desc limit ${maxReadDeliveries}) d
    where ${isWaitingOrEnded} and ${aboutAgents("d", agentIds)} and ${isReplayable(origin)}
    order by d.id desc limit ${limit}`.execute(tx);
  if (found.length === limit) return { found, lastRead: undefined };
  const { rows: last } = await sql<{ id: string }>`
    select id from ${read} d order by id desc offset ${maxReadDeliveries - 1} limit 1`.execute(tx);
  return { found, lastRead: last[0]?.id };
}

/**
 * Makes deliveries pending again and due now, except those that became due, or whose run was
 * deleted, in the meantime.
 * @returns the number of deliveries that it changed.
 */
export async function replayDeliveryRows(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId }: ReplayedFrom,
  ids: readonly string[],
): Promise<number> {
  const key = { workspaceId, subscriptionId };
  const { numAffectedRows } = await sql`with ${keptRuns(ids, key)}
    update deliveries d set ${pendingAgain}
    where ${isKept} and d.subscription_id = ${subscriptionId} and d.workspace_id = ${workspaceId}
      and ${isWaitingOrEnded}
      and d.id = any (${[...ids]}::text[])`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
