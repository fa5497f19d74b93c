import type { DeliveryFormat, DeliveryKind, PayloadStyle } from "@beckon/contract";
import { type Database, statement } from "../base/database/index.ts";
import { someSubscriptions } from "../events/index.ts";
import type { DeliveredRow } from "./body.ts";
import { pendingLanes } from "./pending-lanes.ts";

/** A delivery that this process has claimed, with the subscription's values for the attempt. */
export interface ClaimedDelivery extends Omit<DeliveredRow, "data"> {
  readonly id: string;
  /**
   * JSON of `DeliveredRow.data`, not parsed, because parsed data can take 20 times as much memory.
   * null if there is no data, if its JSON has more than 8 KiB, or if the delivery has waited long
   * in its lane: the attempt then reads the data from the database.
   */
  readonly data: string | null;
  /** Size of the JSON of the data; null if there is no data. */
  readonly data_bytes: number | null;
  /** Attempts since the delivery was created or last replayed, including this one. */
  readonly attempts: number;
  /** Claims since the last recorded outcome, including this one. */
  readonly claims: number;
  /**
   * Time after which another process can claim the delivery, in PostgreSQL's text format. It also
   * identifies the claim, because another claim changes it.
   */
  readonly lease: string;
  readonly url: string;
  readonly callback_url: string | null;
  readonly payload: PayloadStyle;
  readonly format: DeliveryFormat;
  readonly secret: string;
  /**
   * The secret from before the last rotation while it is still valid, else null. If it is not null,
   * each request is signed with both secrets.
   */
  readonly previous_secret: string | null;
  readonly headers: string | null;
  /** Version of the subscription when its values were read. */
  readonly subscription_version: number;
  /** Whether the last attempt of the subscription failed. */
  readonly is_failing: boolean;
}

export interface ClaimInput {
  /**
   * The lanes in which this process has claimed deliveries. A lane is a subscription and a kind of
   * delivery. `claimed`: the number of these deliveries. `version`: the subscription's version when
   * the last of them was claimed.
   */
  readonly busy: readonly {
    readonly lane: string;
    readonly subscriptionId: string;
    readonly kind: DeliveryKind;
    readonly claimed: number;
    readonly version: number;
  }[];
  /** Maximum deliveries to claim. */
  readonly max: number;
  /** Maximum deliveries to claim of subscriptions whose last attempt failed. */
  readonly maxFailing: number;
  /** Maximum deliveries of each kind that this process can have claimed of one subscription. */
  readonly maxOfOne: Readonly<Record<DeliveryKind, number>>;
  readonly leaseSeconds: number;
}

export interface ClaimResult {
  readonly claimed: readonly ClaimedDelivery[];
  /**
   * The lanes in `busy` whose subscription is no longer enabled, whose receiver has requested a
   * delay, or whose version has changed, for example because the URL or secret changed.
   */
  readonly changed: readonly string[];
  /** Whether any workspace has a subscription. */
  readonly someSubscriptions: boolean;
  /** Milliseconds until the next delivery becomes due; undefined if none is due later. */
  readonly nextDueMs: number | undefined;
}

/** Maximum bytes of the data of each claimed delivery. */
export const maxClaimedBytes = 8 * 1024;

/**
 * Maximum factor by which leases are longer because of earlier claims without an outcome. A process
 * that exits uses up no attempt. The longer leases delay a delivery that causes the exits itself.
 */
const maxLeaseFactor = 10;

/**
 * SQL that reads the data of a delivery `d` from its event. It is used for deliveries that have no
 * copy of the data: a delivery is inserted with a copy only if the subscription is then enabled and
 * its payload is `full`.
 */
export const eventData = `case when d.run_id is null
    then (select w.data from workspace_events w
      where w.id = d.event_id and w.workspace_id = d.workspace_id)
    else (select e.data from events e where e.run_id = d.run_id and e.seq = d.seq
      and e.workspace_id = d.workspace_id) end`;

/**
 * SQL condition that a subscription `s` is sent deliveries of a kind now. Only events wait for the
 * end of a delay that the receiver has requested: callbacks have other URLs, and a test shows
 * whether the receiver works again.
 */
const isSent = (kind: string) => `s.deleted_at is null and s.status = 'enabled'
      and (${kind} <> 'event' or s.not_before is null or s.not_before <= now())`;

/**
 * SQL condition that the last attempt at the URL of subscription `s` failed, and that deliveries of
 * a kind are sent to this URL. Callbacks have other URLs.
 */
const isFailing = (kind: string) => `(s.failing_since is not null and ${kind} <> 'callback')`;

/**
 * Statement that claims due deliveries, by lane (see `pendingLanes`).
 *
 * Lanes with the fewest claimed deliveries come first. Lanes of subscriptions whose last attempt
 * failed come last, except those of callbacks, and only one delivery of each is claimed at a time.
 * A receiver that hangs therefore takes no capacity from other receivers, and callbacks that hang
 * take none from events.
 *
 * Large data is not returned, so that claimed deliveries, of which many wait, need little memory.
 *
 * The claim checks that the subscription is enabled, although pausing or deleting a subscription
 * also ends its pending deliveries: transactions that are open at that time can still add some.
 */
const claimStatement = statement<ClaimInput>("claim-deliveries", (p) => {
  const busy = p.rows("b", (input) => input.busy, {
    lane: ["text", (row) => row.lane],
    id: ["text", (row) => row.subscriptionId],
    kind: ["text", (row) => row.kind],
    claimed: ["int", (row) => row.claimed],
    version: ["int", (row) => row.version],
  });
  const max = p.value("int", (input) => input.max);
  const maxFailing = p.value("int", (input) => input.maxFailing);
  const maxOfOne = (kind: DeliveryKind) => p.value("int", (input) => input.maxOfOne[kind]);
  const lease = p.value("double precision", (input) => input.leaseSeconds);
  return `
with recursive busy as materialized (
  select b.lane, b.id, b.kind, b.claimed, b.version from ${busy.table}
), ${pendingLanes("waiting")}, ready as (
  select s.id, w.kind, ${isFailing("w.kind")} as is_failing,
    coalesce(b.claimed, 0) as claimed,
    case when ${isFailing("w.kind")} then 1
      when w.kind = 'event' then ${maxOfOne("event")}
      when w.kind = 'callback' then ${maxOfOne("callback")}
      else ${maxOfOne("test")} end - coalesce(b.claimed, 0) as free
  from waiting w
  cross join lateral (
    select * from subscriptions s
    where s.id = w.subscription_id and ${isSent("w.kind")} limit 1
  ) s
  left join busy b on b.id = s.id and b.kind = w.kind
  where w.next_at <= now()
), max_turn as (
  -- Each ready lane has a due delivery. So if more than "max" lanes are ready, no lane gets more
  -- turns than this, and "oldest" need not read further deliveries.
  select claimed + 1 as turn from ready where not is_failing and free > 0
  order by claimed offset ${max} limit 1
), oldest as (
  select d.subscription_id, d.id, r.is_failing,
    r.claimed + row_number() over (partition by r.id, r.kind order by d.next_at) as turn
  from ready r cross join lateral (
    select d.subscription_id, d.id, d.next_at from deliveries d
    where d.subscription_id = r.id and d.kind = r.kind and d.status = 'pending'
      and d.next_at <= now() and r.free > 0
    order by d.next_at
    limit greatest(0, least(r.free, (select turn from max_turn) - r.claimed))
  ) d
), turns as (
  select subscription_id, id, is_failing, turn,
    row_number() over (partition by is_failing order by turn, random()) as n
  from oldest
), chosen as materialized (
  select subscription_id, id from turns where not is_failing or n <= ${maxFailing}
  order by is_failing, turn, random() limit ${max}
), picked as materialized (
  select d.subscription_id, d.id from chosen c cross join lateral (
    select d.subscription_id, d.id from deliveries d
    where d.subscription_id = c.subscription_id and d.id = c.id and d.next_at <= now()
      -- If this were "=", the planner would choose the index deliveries_due and read all pending
      -- deliveries of the subscription.
      and d.status is not distinct from 'pending'
    for no key update skip locked
  ) d
), claimed as (
  update deliveries d set claims = d.claims + 1,
    next_at = now()
      + least(d.claims + 1, ${maxLeaseFactor}) * ${lease} * interval '1 second',
    data = case when d.data is null and (
        select s.payload from subscriptions s where s.id = d.subscription_id limit 1
      ) = 'full' then ${eventData} else d.data end
  from picked p where d.subscription_id = p.subscription_id and d.id = p.id
  returning d.*
), rows as (
  select c.id, c.kind, c.workspace_id, c.subscription_id, c.event_id, c.type, c.version, c.time,
    c.agent_id, c.run_id, c.seq, c.attempts + 1 as attempts, c.claims, c.next_at::text as lease,
    c.callback_url,
    case when octet_length(t.data) <= ${maxClaimedBytes} then t.data end as data,
    octet_length(t.data) as data_bytes,
    s.url, s.payload, s.format, s.secret, s.headers, s.version as subscription_version,
    ${isFailing("c.kind")} as is_failing,
    case when s.previous_secret_until > now() then s.previous_secret end as previous_secret
  from claimed c cross join lateral (
    select * from subscriptions s where s.id = c.subscription_id limit 1
  ) s cross join lateral (
    -- Without "offset 0", the planner would convert the data to text once for each use.
    select c.data::text as data offset 0
  ) t
)
select r.*, ${someSubscriptions} as some,
  (select json_agg(b.lane) from busy b where not exists (
    select from subscriptions s
    where s.id = b.id and s.version = b.version and ${isSent("b.kind")})) as changed,
  (select extract(epoch from min(next_at) - now())::float8 * 1000 from waiting
    where next_at > now()) as next_due_ms
from (values (1)) as always left join rows r on true order by r.id`;
});

/** Claims due deliveries for this process. */
export async function claimDeliveries(
  { engine }: Database,
  input: ClaimInput,
): Promise<ClaimResult> {
  interface Row extends Omit<ClaimedDelivery, "id"> {
    /** If nothing was claimed, the statement returns one row, in which the id is null. */
    readonly id: string | null;
    readonly some: boolean;
    readonly changed: string[] | null;
    readonly next_due_ms: number | null;
  }
  const { rows } = await claimStatement.send<Row>(engine, input);
  return {
    claimed: rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }])),
    changed: rows[0]?.changed ?? [],
    someSubscriptions: rows[0]?.some ?? false,
    nextDueMs: rows[0]?.next_due_ms ?? undefined,
  };
}
