import { type Column, statement } from "../base/database/index.ts";
import { isTriggerToken } from "../credentials/index.ts";
import type { ReceivedRequestRow, SettingsCheck, SettingsCheckResult } from "./received-request.ts";

/** A request to record, and the settings with which its outcome was decided. */
export interface RecordRow {
  readonly request: ReceivedRequestRow;
  /**
   * Compared with the current settings. undefined if the statement that starts runs has already
   * compared them.
   */
  readonly check: SettingsCheck | undefined;
}

/** A row as it is sent to the database. */
export interface SentRow extends RecordRow {
  /**
   * The minute in which the request is counted, as a Unix time in seconds. It must have its maximum
   * of stored requests already: `request` then needs no body. null: the minute of the statement.
   */
  readonly fullMinute: number | null;
}

/** What the statement returns of each row. `count` and `minute` are null unless it is `valid`. */
export interface RecordResult {
  readonly result: SettingsCheckResult;
  /** Number of requests that were counted in `minute` together with this one. */
  readonly count: number | null;
  readonly minute: number | null;
  /** Milliseconds until the minute of the statement ends. */
  readonly minute_left_ms: number;
}

/**
 * Maximum number of requests of one outcome that are stored per trigger and minute. Rejected
 * requests that were verified have a limit of their own, which senders without the secret cannot
 * use up.
 */
export const maxStoredPerMinute = 60;

/** Returns the value of the column `outcome` of `request_counts` under which a row is counted. */
export function countedAs({ outcome, headers }: ReceivedRequestRow): string {
  return outcome === "rejected" && headers === null ? "rejected_unverified" : outcome;
}

/** Columns of `received_requests` that the statements in this folder write. */
export const requestColumns: Readonly<Record<string, Column<ReceivedRequestRow>>> = {
  id: ["text", (row) => row.requestId],
  workspace_id: ["text", (row) => row.workspaceId],
  agent_id: ["text", (row) => row.agentId],
  trigger_id: ["text", (row) => row.triggerId],
  outcome: ["text", (row) => row.outcome],
  error: ["text", (row) => row.error],
  event_id: ["text", (row) => row.eventId],
  event_type: ["text", (row) => row.eventType],
  run_id: ["text", (row) => row.runId],
  address: ["text", (row) => row.address],
  content_type: ["text", (row) => row.contentType],
  content_encoding: ["text", (row) => row.contentEncoding],
  size: ["int", (row) => row.size],
  query: ["text", (row) => row.query],
  headers: ["jsonb", (row) => row.headers ?? "null"],
  body: ["bytea", (row) => row.body],
};

const names = Object.keys(requestColumns);

/**
 * Returns SQL that inserts the rows of `source`, with the current version of their agent.
 * @param source a FROM clause in which the table `q` has `requestColumns`
 */
export function insertRequests(source: string): string {
  const columns = names.map((name) =>
    name === "headers" ? "nullif(q.headers, 'null'::jsonb)" : `q.${name}`,
  );
  return `insert into received_requests (${names.join(", ")}, agent_version)
  select ${columns.join(", ")}, (
    select a.version from agents a where a.id = q.agent_id and a.workspace_id = q.workspace_id
  ) from ${source} on conflict do nothing`;
}

/**
 * Records requests that start no run and that a sender can repeat without end. It counts them per
 * trigger, outcome (see `countedAs`) and minute, and stores the first ones of each minute.
 */
export const recordStatement = statement<readonly SentRow[]>("record-requests", (p) => {
  const requests = p.rows("r", (rows) => rows, {
    ...Object.fromEntries(
      Object.entries(requestColumns).map(([name, [type, value]]) => [
        name,
        [type, (row: SentRow) => value(row.request)] as Column<SentRow>,
      ]),
    ),
    counted_as: ["text", ({ request }) => countedAs(request)],
    token_hash: ["bytea", (row) => row.check?.tokenHash ?? null],
    version: ["int", (row) => row.check?.version ?? 0],
    full_minute: ["bigint", (row) => row.fullMinute],
  });
  return `
with checked as materialized (
  select r.*, coalesce(to_timestamp(r.full_minute), date_trunc('minute', now())) as minute,
    case when r.token_hash is null then 'valid' when t.hash is null then 'unauthorized'
      when t.receiving_version <> r.version then 'reconfigured' else 'valid' end as result
  from ${requests.table}
  left join lateral (
    select t.hash, g.receiving_version from tokens t
    join triggers g on g.id = t.trigger_id and g.workspace_id = t.workspace_id
    join agents a on a.id = t.agent_id and a.workspace_id = t.workspace_id
    where t.hash = r.token_hash and ${isTriggerToken("t", "g", "a")} limit 1
  ) t on true
), counted as (
  -- The rows are ordered, so that two processes lock the counts in the same order and cannot
  -- deadlock.
  insert into request_counts as c (workspace_id, trigger_id, outcome, minute, count)
  select workspace_id, trigger_id, counted_as, minute, count(*) from checked where result = 'valid'
  group by workspace_id, trigger_id, counted_as, minute order by trigger_id, counted_as, minute
  on conflict (trigger_id, outcome, minute) do update set count = c.count + excluded.count
  returning trigger_id, outcome, minute, count
), numbered as (
  select c.*, n.count, row_number() over counted_together as number,
    count(*) over counted_together as added
  from checked c join counted n
    on n.trigger_id = c.trigger_id and n.outcome = c.counted_as and n.minute = c.minute
  where c.result = 'valid'
  window counted_together as (
    partition by c.trigger_id, c.counted_as, c.minute order by c.position
    rows between unbounded preceding and unbounded following)
), stored as (
  ${insertRequests(`numbered q where count - added + number <= ${maxStoredPerMinute}`)}
)
select c.result, n.count, extract(epoch from n.minute)::float8 as minute,
  extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now())::float8 * 1000
    as minute_left_ms
from checked c left join numbered n on n.position = c.position order by c.position`;
});
