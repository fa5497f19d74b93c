import { type Database, statement } from "../base/database/index.ts";

/** The request and response of an attempt, for the log. */
export interface AttemptLog {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly url: string;
  /** The sent headers without the signature and without the subscription's own, secret headers. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** null if no response arrived. */
  readonly status: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string;
  /** null if the receiver accepted the delivery. */
  readonly error: string | null;
}

/** The outcome of one claim of a delivery, apart from what depends on its kind. */
interface ClaimOutcome {
  readonly subscriptionId: string;
  readonly deliveryId: string;
  /**
   * `lease` of the claim, which identifies it. Nothing is written if the delivery was claimed
   * since, or was ended and then replayed.
   */
  readonly lease: string;
  /** `attempts` and `claims` of the claim. They identify it if the delivery was ended since. */
  readonly attempts: number;
  readonly claims: number;
  /** Whether the delivery had data when it was claimed. */
  readonly hadData: boolean;
  /** Whether the outcome changes the health of the subscription. */
  readonly countsForHealth: boolean;
  /**
   * Milliseconds in which the receiver wants no further event; null if it requested no delay. Used
   * only if `countsForHealth` is true, and if the subscription still has the URL of the attempt.
   */
  readonly receiverDelayMs: number | null;
}

/** How an attempt ended that counts. `delayMs` is the delay of the next attempt. */
export type AttemptEnd =
  | { readonly kind: "succeeded" | "failed" }
  | { readonly kind: "retry"; readonly delayMs: number };

/**
 * The outcome of one claim of a delivery. `released`: the attempt does not count, and the delivery
 * is due at once.
 */
export type Outcome = ClaimOutcome &
  (
    | (AttemptEnd & { readonly attemptLog: AttemptLog })
    | { readonly kind: "released"; readonly attemptLog: undefined }
  );

interface OutcomeInput {
  readonly outcomes: readonly Outcome[];
  /** See `recordOutcomes`. */
  readonly maxGapSeconds: number;
}

/**
 * SQL condition that a pending delivery `d` was replayed during an attempt that was not its first
 * one. The attempt then counts as the first one. If it fails, the delivery is due at once: the
 * delay of the outcome, or the end of the delivery, follows from the attempts before the replay.
 */
const wasReplayed = "d.attempts + 1 < o.attempts";

/**
 * Statement that records outcomes: the deliveries, a row for each attempt, and the health of the
 * subscriptions. If the reply of the database is lost, the statement is sent again. An outcome that
 * was already committed is not written twice, because its delivery no longer has the lease.
 *
 * A delivery can be ended during its attempt, for example because its subscription is paused. The
 * attempt is written all the same, and the delivery has succeeded if the receiver has accepted it:
 * otherwise a replay would send it again. A response whose data was deleted meanwhile is written
 * without its body, which can repeat the data.
 *
 * The health of a subscription whose receiver works is written at most once a second, so that a
 * fast receiver does not make one row the bottleneck.
 */
const outcomeStatement = statement<OutcomeInput>("record-deliveries", (p) => {
  const maxGap = p.value("int", ({ maxGapSeconds }) => maxGapSeconds);
  const outcomes = p.rows("o", (input) => input.outcomes, {
    subscription_id: ["text", (row) => row.subscriptionId],
    id: ["text", (row) => row.deliveryId],
    lease: ["text", (row) => row.lease],
    attempts: ["int", (row) => row.attempts],
    claims: ["int", (row) => row.claims],
    had_data: ["boolean", (row) => row.hadData],
    kind: ["text", (row) => row.kind],
    delay_ms: ["bigint", (row) => (row.kind === "retry" ? Math.round(row.delayMs) : 0)],
    counts: ["boolean", (row) => row.countsForHealth],
    receiver_delay_ms: ["bigint", (row) => row.receiverDelayMs],
    started_at: ["text", ({ attemptLog }) => attemptLog?.startedAt.toISOString() ?? null],
    duration_ms: ["int", ({ attemptLog }) => attemptLog?.durationMs ?? null],
    url: ["text", ({ attemptLog }) => attemptLog?.url ?? null],
    request_headers: [
      "jsonb",
      ({ attemptLog }) => JSON.stringify(attemptLog?.requestHeaders ?? {}),
    ],
    response_status: ["int", ({ attemptLog }) => attemptLog?.status ?? null],
    response_headers: [
      "jsonb",
      ({ attemptLog }) => JSON.stringify(attemptLog?.responseHeaders ?? {}),
    ],
    response_body: ["text", ({ attemptLog }) => attemptLog?.responseBody ?? null],
    error: ["text", ({ attemptLog }) => attemptLog?.error ?? null],
  });
  return `
with outcomes as materialized (
  select o.* from ${outcomes.table}
), moved as (
  update deliveries d set
    status = case when o.kind = 'succeeded'
        or (o.kind = 'failed' and d.status = 'pending' and not ${wasReplayed})
      then o.kind else d.status end,
    next_at = case when d.status <> 'pending' or o.kind = 'succeeded' then null
      when ${wasReplayed} then now()
      when o.kind <> 'failed' then now() + o.delay_ms * interval '1 millisecond' end,
    finished_at = case when o.kind = 'succeeded' then now()
      when o.kind = 'failed' and not ${wasReplayed} then coalesce(d.finished_at, now())
      else d.finished_at end,
    attempts = d.attempts + case when o.kind = 'released' then 0 else 1 end,
    claims = 0,
    last_status = case when o.kind = 'released' then d.last_status else o.response_status end,
    -- If a delivery was ended with a reason, it keeps the reason. Without one, it still has the
    -- error of the attempt before, or none.
    last_error = case when o.kind = 'released' then d.last_error
      when o.kind = 'succeeded' or d.status = 'pending' then o.error
      else coalesce(nullif(d.last_error, (
        select a.error from delivery_attempts a
        where a.subscription_id = d.subscription_id and a.delivery_id = d.id
        order by a.number desc limit 1)), o.error) end
  from outcomes o
  where d.subscription_id = o.subscription_id and d.id = o.id
    -- A condition outside of "case" that contains status = 'pending' could make the planner choose
    -- the index deliveries_due and read all pending deliveries of the subscription.
    and case when d.status = 'pending' then d.next_at = o.lease::timestamptz
      else d.attempts + 1 = o.attempts and d.claims = o.claims end
  returning o.*, d.kind as delivery_kind, d.workspace_id,
    o.had_data and d.data is null as is_data_deleted,
    o.started_at::timestamptz + o.duration_ms * interval '1 millisecond' as ended_at
), logged as (
  insert into delivery_attempts (subscription_id, delivery_id, number, workspace_id, started_at,
    duration_ms, url, request_headers, status, response_headers, response_body, error)
  select m.subscription_id, m.id, 1 + coalesce((
      select a.number from delivery_attempts a
      where a.subscription_id = m.subscription_id and a.delivery_id = m.id
      order by a.number desc limit 1), 0),
    m.workspace_id, m.started_at::timestamptz, m.duration_ms, m.url, m.request_headers,
    m.response_status, m.response_headers,
    case when m.is_data_deleted then '' else m.response_body end, m.error
  from moved m where m.kind <> 'released'
), results as (
  select m.subscription_id, bool_or(m.kind = 'succeeded') as some_succeeded,
    bool_or(m.kind <> 'succeeded') as some_failed,
    (array_agg(m.kind = 'succeeded' order by m.ended_at desc))[1] as is_healthy,
    (array_agg(m.error order by m.ended_at desc))[1] as error,
    max(m.receiver_delay_ms) as receiver_delay_ms,
    (array_agg(m.url order by m.receiver_delay_ms desc nulls last))[1] as delaying_url,
    (array_agg(m.url order by m.ended_at desc)
      filter (where m.delivery_kind = 'test' and m.kind = 'succeeded'))[1] as tested_url
  from moved m where m.counts and m.kind <> 'released' group by m.subscription_id
), locked as materialized (
  -- Rows are locked in one order, so that two processes cannot deadlock. A row that is locked, for
  -- example by a long replay, is skipped: its health is written with the next outcome, and the
  -- outcomes of other subscriptions do not wait. A delay is not written then, so the next event is
  -- sent without it, and the receiver can request it again. Nor does a test then end a delay.
  select s.* from subscriptions s
  where s.id = any (array(select subscription_id from results order by subscription_id))
    and exists (select from results r where r.subscription_id = s.id
      and (r.some_failed or s.failing_since is not null
        or (r.tested_url is not null and s.not_before > now())
        or s.last_success_at is null or s.last_success_at < now() - interval '1 second'))
  order by s.id for no key update of s skip locked
), health as (
  update subscriptions s set
    last_success_at = case when r.some_succeeded then now() else s.last_success_at end,
    last_failure_at = case when r.some_failed then now() else s.last_failure_at end,
    last_error = case when r.is_healthy then null else r.error end,
    -- When a subscription that is not enabled is resumed, the deliveries that failed since this time
    -- are counted as missed.
    failing_since = case when s.status <> 'enabled' then s.failing_since
      when r.is_healthy then null
      when r.some_succeeded or s.last_failure_at < now() - ${maxGap} * interval '1 second' then now()
      else coalesce(s.failing_since, now()) end,
    -- A test that succeeds shows that the receiver works again, so it ends the delay.
    not_before = case when r.receiver_delay_ms is not null and r.delaying_url = s.url
      then greatest(s.not_before, now() + r.receiver_delay_ms * interval '1 millisecond')
      when r.tested_url = s.url and s.not_before > now() then now()
      else s.not_before end
  from results r join locked l on l.id = r.subscription_id
  where s.id = l.id and s.workspace_id = l.workspace_id
  returning s.id, s.workspace_id, s.failing_since
)
select json_agg(json_build_object('id', h.id, 'workspaceId', h.workspace_id,
  'failingSeconds', extract(epoch from now() - h.failing_since)))
  filter (where h.failing_since is not null) as failing
from health h`;
});

/** A subscription whose last attempt failed, and the time for which every attempt has failed. */
export interface FailingSubscription {
  readonly id: string;
  readonly workspaceId: string;
  readonly failingSeconds: number;
}

/**
 * Records outcomes, and returns the subscriptions that are failing after them.
 * @param options `maxGapSeconds`: if the failure before is longer ago, a subscription is failing
 *   only since now. Otherwise the time without an attempt would count as a time of failures.
 */
export async function recordOutcomes(
  { engine }: Database,
  outcomes: readonly Outcome[],
  { maxGapSeconds }: { readonly maxGapSeconds: number },
): Promise<readonly FailingSubscription[]> {
  const { rows } = await outcomeStatement.send<{ failing: FailingSubscription[] | null }>(engine, {
    outcomes,
    maxGapSeconds,
  });
  return rows[0]?.failing ?? [];
}
