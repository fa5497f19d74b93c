import { type Column, type Parameters, statement } from "../base/database/index.ts";
import { isTriggerToken } from "../credentials/index.ts";
import type { ReceivedRequestRow, SettingsCheck } from "./received-request.ts";

/** A request to record, and the settings with which its outcome was decided. */
export interface RecordRow {
  readonly request: ReceivedRequestRow;
  /**
   * Compared with the current settings. undefined if the statement that starts runs has already
   * compared them.
   */
  readonly check: SettingsCheck | undefined;
}

/**
 * Maximum number of requests of one outcome that are stored per trigger and minute. Rejected
 * requests that were verified have a limit of their own, which senders without the secret cannot
 * use up.
 */
const maxStoredPerMinute = 60;

/** Returns the value of the column `outcome` of `request_counts` under which a row is counted. */
function countedAs({ outcome, headers }: ReceivedRequestRow): string {
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
export const recordStatement = statement<readonly RecordRow[]>("record-requests", (p) => {
  const checks = (p: Parameters<readonly RecordRow[]>) =>
    p.rows("r", (rows) => rows, {
      ...Object.fromEntries(
        Object.entries(requestColumns).map(([name, [type, value]]) => [
          name,
          [type, (row: RecordRow) => value(row.request)] as Column<RecordRow>,
        ]),
      ),
      counted_as: ["text", ({ request }) => countedAs(request)],
      token_hash: ["bytea", (row) => row.check?.tokenHash ?? null],
      version: ["int", (row) => row.check?.version ?? 0],
    }).table;
  return `
with checked as materialized (
  select r.*, date_trunc('minute', now()) as minute,
    case when r.token_hash is null then 'valid' when t.hash is null then 'unauthorized'
      when t.receiving_version <> r.version then 'reconfigured' else 'valid' end as result
  from ${checks(p)}
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
  group by workspace_id, trigger_id, counted_as, minute order by trigger_id, counted_as
  on conflict (trigger_id, outcome, minute) do update set count = c.count + excluded.count
  returning trigger_id, outcome, count
), numbered as (
  select c.*, row_number() over (partition by trigger_id, counted_as order by position) as number,
    count(*) over (partition by trigger_id, counted_as) as added
  from checked c where result = 'valid'
), stored as (
  ${insertRequests(`numbered q join (select trigger_id as counted_id, outcome as counted_outcome, count
    from counted) as counted on counted_id = q.trigger_id and counted_outcome = q.counted_as
  where count - added + number <= ${maxStoredPerMinute}`)}
)
select result from checked order by position`;
});
