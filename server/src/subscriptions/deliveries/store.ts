import { type RawBuilder, type Selectable, sql } from "kysely";
import {
  maxSearched,
  type Searched,
  type Tables,
  type WorkspaceTransaction,
} from "../../base/database/index.ts";
import { eventData, maxBodyBytes, parseEventData } from "../../deliveries/index.ts";

/** A delivery, and the URL of its subscription. */
export type DeliveryRow = Omit<Selectable<Tables["deliveries"]>, "data" | "claims"> & {
  readonly subscription_url: string;
};

/** Identifies a delivery. */
export interface DeliveryKey {
  readonly workspaceId: string;
  readonly subscriptionId: string;
  readonly deliveryId: string;
}

const columns = sql.raw(`d.id, d.workspace_id, d.subscription_id, d.kind, d.event_id, d.type,
  d.version, d.time, d.agent_id, d.run_id, d.seq, d.callback_url, d.status, d.attempts,
  case when d.kind = 'event' and d.status = 'pending' then greatest(d.next_at, s.not_before)
    else d.next_at end as next_at,
  d.last_status, d.last_error, d.finished_at, s.url as subscription_url`);

const subscription = sql.raw(
  "join subscriptions s on s.id = d.subscription_id and s.workspace_id = d.workspace_id",
);

/** Filters of a list of deliveries. */
export interface DeliveryFilter {
  readonly status?: readonly string[] | undefined;
  readonly type?: readonly string[] | undefined;
  readonly run_id?: string | undefined;
}

/**
 * Returns the SQL condition that a delivery is a test, or is about one of the agents to which the
 * caller is limited. A subscription can have deliveries about other agents from the time before it
 * was limited to these agents.
 * @param agentIds undefined if the caller is not limited.
 */
export const aboutAgents = (alias: string, agentIds: readonly string[] | undefined) =>
  agentIds === undefined
    ? sql`true`
    : sql`(${sql.ref(`${alias}.agent_id`)} = any (${[...agentIds]}::text[]) or ${sql.ref(`${alias}.kind`)} = 'test')`;

/** Statuses for which there is an index of deliveries. */
const indexedStatuses: readonly string[] = ["pending", "failed", "not_sent"];

/**
 * Returns up to `limit` of a subscription's deliveries below the id `below`, newest first. Searches
 * at most 10,000 deliveries.
 * @returns `searchedTo`: the lowest id that was searched; undefined if fewer than 10,000 deliveries
 *   were searched, so that none are left.
 */
export async function searchDeliveries(
  tx: WorkspaceTransaction,
  workspaceId: string,
  subscriptionId: string,
  filter: DeliveryFilter,
  {
    agentIds,
    below,
    limit,
  }: {
    readonly agentIds: readonly string[] | undefined;
    readonly below: string | undefined;
    readonly limit: number;
  },
): Promise<Searched<DeliveryRow>> {
  const ofStatus =
    filter.status === undefined
      ? sql`true`
      : sql`status = any (${[...new Set(filter.status)]}::text[])`;
  const isIndexed = filter.status?.every((status) => indexedStatuses.includes(status)) ?? false;
  // The conditions in `indexed` can use an index. The conditions on agents and types, and on
  // statuses without an index, are checked for each row that `searched` selects.
  const indexed = [
    sql`subscription_id = ${subscriptionId}`,
    sql`workspace_id = ${workspaceId}`,
    ...(below === undefined ? [] : [sql`id < ${below}`]),
    ...(filter.run_id === undefined ? [] : [sql`run_id = ${filter.run_id}`]),
    ...(isIndexed ? [ofStatus] : []),
  ];
  const { rows } = await sql<DeliveryRow & { searched_to: string | null }>`
    with searched as materialized (
      select id, type, status, agent_id, kind from deliveries where ${sql.join(indexed, sql` and `)}
      order by id desc limit ${maxSearched}
    ), found as (
      select id from searched where ${aboutAgents("searched", agentIds)} and ${ofStatus}
      ${filter.type === undefined ? sql`` : sql`and type = any (${[...filter.type]}::text[])`}
      order by id desc limit ${limit}
    )
    select case when (select count(*) from searched) = ${maxSearched} then
        (select min(id) from searched) end as searched_to, ${columns}
    from (select) one left join (found join deliveries d
      on d.id = found.id and d.subscription_id = ${subscriptionId} ${subscription}) on true
    order by d.id desc`.execute(tx);
  return {
    rows: rows.filter(({ id }) => id !== null),
    searchedTo: rows[0]?.searched_to ?? undefined,
  };
}

/**
 * Returns a delivery of a subscription; undefined if the subscription has no such delivery that the
 * caller can see.
 * @param agentIds the agents to which the caller is limited; undefined if it is not limited.
 */
export async function findDelivery(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId, deliveryId }: DeliveryKey,
  agentIds: readonly string[] | undefined,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`select ${columns} from deliveries d ${subscription}
    where d.subscription_id = ${subscriptionId} and d.id = ${deliveryId}
      and d.workspace_id = ${workspaceId} and ${aboutAgents("d", agentIds)}`.execute(tx);
  return rows[0];
}

/** The event's data in a delivery. */
export interface StoredData {
  readonly data: Record<string, unknown> | null;
  /**
   * The data as JSON, if it is in an artifact and fits into the body of a delivery; otherwise null.
   */
  readonly content: string | null;
}

/**
 * Returns the event's data of a delivery. If a pending delivery was stored without data, its data
 * is read from the event, as its next claim does if the payload is `full`.
 */
export async function findData(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId, deliveryId }: DeliveryKey,
): Promise<StoredData> {
  const { rows } = await sql<{ readonly [Column in keyof StoredData]: string | null }>`
    select d.data::text, convert_from(a.content, 'UTF8') as content from (
      select d.run_id, d.workspace_id, case when d.data is null and d.status = 'pending'
        then ${sql.raw(eventData)} else d.data end as data
      from deliveries d where d.subscription_id = ${subscriptionId} and d.id = ${deliveryId}
        and d.workspace_id = ${workspaceId}
    ) d left join artifacts a on d.data ? 'artifact_id' and a.id = d.data ->> 'artifact_id'
      and a.workspace_id = d.workspace_id and a.run_id = d.run_id
      and octet_length(a.content) <= ${sql.lit(maxBodyBytes)}`.execute(tx);
  const { data = null, content = null } = rows[0] ?? {};
  return { data: parseEventData(data), content };
}

/** Returns the last `limit` attempts of a delivery, newest first. */
export function listAttempts(
  tx: WorkspaceTransaction,
  { workspaceId, subscriptionId, deliveryId }: DeliveryKey,
  limit: number,
): Promise<Selectable<Tables["delivery_attempts"]>[]> {
  return tx
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("subscription_id", "=", subscriptionId)
    .where("delivery_id", "=", deliveryId)
    .where("workspace_id", "=", workspaceId)
    .orderBy("number", "desc")
    .limit(limit)
    .execute();
}

/** Returns whether the run exists. With `agentIds`, only a run of one of these agents counts. */
export async function runExists(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
  agentIds?: readonly string[],
): Promise<boolean> {
  const query = tx
    .selectFrom("runs")
    .select("id")
    .where("id", "=", runId)
    .where("workspace_id", "=", workspaceId);
  const row = await (agentIds === undefined
    ? query
    : query.where("agent_id", "in", agentIds)
  ).executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns deliveries about a run, newest first, without those of deleted subscriptions.
 * @param agentIds the agents to which the caller is limited; undefined if it is not limited. A
 *   limited caller gets only deliveries of subscriptions that are limited to some of these agents.
 */
export async function listDeliveriesOfRun(
  tx: WorkspaceTransaction,
  workspaceId: string,
  runId: string,
  agentIds: readonly string[] | undefined,
  { below, limit }: { readonly below: string | undefined; readonly limit: number },
): Promise<DeliveryRow[]> {
  const conditions: RawBuilder<unknown>[] = [
    sql`d.run_id = ${runId}`,
    sql`d.workspace_id = ${workspaceId}`,
    sql`d.kind <> 'test'`,
    sql`s.deleted_at is null`,
    ...(below === undefined ? [] : [sql`d.id < ${below}`]),
    ...(agentIds === undefined ? [] : [sql`s.agent_ids <@ ${[...agentIds]}::text[]`]),
  ];
  const { rows } = await sql<DeliveryRow>`select ${columns} from deliveries d ${subscription}
    where ${sql.join(conditions, sql` and `)} order by d.id desc limit ${limit}`.execute(tx);
  return rows;
}

/** Inserts a test delivery, which is due at once. */
export async function insertTestDelivery(
  tx: WorkspaceTransaction,
  row: Pick<
    Selectable<Tables["deliveries"]>,
    | "id"
    | "workspace_id"
    | "subscription_id"
    | "event_id"
    | "type"
    | "version"
    | "agent_id"
    | "run_id"
    | "seq"
  > & { readonly data: object | null },
): Promise<void> {
  await tx
    .insertInto("deliveries")
    .values({
      ...row,
      kind: "test",
      data: row.data && JSON.stringify(row.data),
      status: "pending",
      next_at: sql<Date>`now()`,
    })
    .execute();
}
