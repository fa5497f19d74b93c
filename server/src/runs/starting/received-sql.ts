import { type Parameters, sqlList } from "../../base/database/index.ts";
import { overLimit } from "./over-limit.ts";
import type { Parts } from "./start-parts.ts";
import type {
  CopiedFile,
  ReceivedFile,
  ReceivedStart,
  SenderEvent,
  StartRow,
} from "./start-row.ts";

/**
 * Maximum number of runs that a trigger holds. Concurrent batches do not see each other's runs, so
 * together they can exceed it by the number of their requests. The queue limit can be exceeded in
 * the same way.
 */
export const maxHeldRuns = 1_000;

/**
 * SQL that the start statement has only for requests to triggers that have the settings
 * `receiving`. `callers` and `checked` are common table expressions of the statement, with one row
 * for each caller and for each request.
 */
export interface ReceivedSql {
  readonly columnsOfCallers: string;
  readonly columnsOfChecked: string;
  readonly joinsOfChecked: string;
  /** Common table expressions that bind event ids. */
  readonly bindEvents: string;
  /** Condition on `checked` that the event id of a request, if it has one, is bound to its run. */
  readonly isEventBound: string;
  /** Common table expressions that write the requests and their files. */
  readonly writeRequests: string;
  /**
   * Result column that makes the whole statement fail if a request has bound its event id but not
   * its Idempotency-Key, which a concurrent request bound first. Otherwise the event id would stay
   * bound although no run was started. The batch is then sent again.
   */
  readonly repeatIfHalfBound: string;
}

/** The SQL for a batch without requests to triggers that have the settings `receiving`. */
export const noReceived: ReceivedSql = {
  columnsOfCallers: "",
  columnsOfChecked: "",
  joinsOfChecked: "",
  bindEvents: "",
  isEventBound: "",
  writeRequests: "",
  repeatIfHalfBound: "",
};

/**
 * Returns SQL of the start statement for received requests. Declares the parameter tables that this
 * SQL uses.
 * @param sql SQL expressions. `scope`: the scope of a request's Idempotency-Key. `isAdmitted`: the
 *   condition for a row of `checked` that its run exceeds no limit of queued or held runs.
 */
export function receivedSql<Input extends { readonly rows: readonly StartRow[] }>(
  p: Parameters<Input>,
  parts: Parts,
  { scope, isAdmitted }: { readonly scope: string; readonly isAdmitted: string },
): ReceivedSql {
  const { keys, files, resent } = parts;
  const requests = p.rows("received", eventsOf, {
    request: ["int", (row) => row.request],
    id: ["text", (row) => row.requestId ?? null],
    event: ["text", (row) => row.eventId],
    event_days: ["int", (row) => row.eventIdDays],
    swallows: ["boolean", (row) => row.swallows ?? false],
    is_filtered: ["boolean", (row) => row.isFiltered ?? false],
  });
  // Only the insert into `received_requests` joins this table. If these values were columns of
  // `checked` instead, PostgreSQL would copy the large bodies.
  const contents = p.rows("b", requestsOf, {
    request: ["int", (row) => row.request],
    event_type: ["text", (row) => row.eventType],
    replay_of: ["text", (row) => row.replayOf],
    address: ["text", (row) => row.address],
    content_encoding: ["text", (row) => row.contentEncoding],
    size: ["int", (row) => row.body.length],
    query: ["text", (row) => row.query],
    headers: ["jsonb", (row) => row.headers],
    body: ["bytea", (row) => row.body],
  });
  return {
    columnsOfCallers: columnsOfCallers(parts),
    columnsOfChecked: sqlList(
      "received.id as request_id, received.event as sender_event, received.event_days, c.held",
      keys && `row_number() over (partition by ${scope}, r.key order by r.position) as key_turn`,
    ),
    joinsOfChecked: `left join ${requests.table} on received.request = r.position
  left join lateral (
    -- A replay is sent with the trigger in its details. If its Idempotency-Key was used before, the
    -- key decides: this call is then a repeat of an earlier one, which may have bound the event.
    select e.run_id from trigger_event_ids e where received.event is not null
      and (d.trigger_id is null or old.body_hash is null)
      and e.workspace_id = c.workspace_id and e.event_id = received.event
      and e.trigger_id = case when d.trigger_id is not null then d.trigger_id else c.trigger_id end
    limit 1
  ) seen on true${
    resent
      ? `
  left join lateral (
    select w.id from received_requests w where w.id = received.id
      and w.trigger_id = case when d.trigger_id is not null then d.trigger_id else c.trigger_id end
    limit 1
  ) written_request on true`
      : ""
  }`,
    // If several rows of the batch have the same Idempotency-Key, only the first of them binds its
    // event id, because the others start no run.
    bindEvents: `overfull as (
  ${overLimit(parts, "waiting", { owner: "trigger_id", earlier: "held", max: maxHeldRuns })}
), event_bound as (
  -- Ordered, so that two processes lock equal ids in the same order and cannot deadlock.
  insert into trigger_event_ids (workspace_id, trigger_id, event_id, run_id, expires_at)
  select workspace_id, trigger_id, sender_event, run_id, now() + make_interval(days => event_days)
  from checked
  where check_result = 'start' and sender_event is not null and status <> 'failed'
    and (${isAdmitted})
    ${keys ? "and (key is null or key_turn = 1)" : ""}
  order by trigger_id, sender_event, position
  on conflict do nothing
  returning run_id
)`,
    isEventBound:
      "(sender_event is null or status = 'failed' or run_id in (select run_id from event_bound))",
    writeRequests: sqlList(
      `stored_requests as (
  insert into received_requests (id, workspace_id, agent_id, trigger_id, outcome, error, event_id,
    event_type, run_id, replay_of, agent_version, address, content_type, content_encoding, size,
    query, headers, body)
  select s.request_id, s.workspace_id, s.agent_id, s.trigger_id,
    case when s.check_result = 'filtered' then 'filtered' when s.status = 'waiting' then 'held'
      when s.status <> 'failed' then 'started' when s.error_code = 'mapping_error' then s.error_code
      else 'limit_reached' end,
    s.error_message, s.sender_event, b.event_type,
    case when s.check_result = 'start' then s.run_id end, b.replay_of, s.version, b.address,
    s.content_type, b.content_encoding, b.size, b.query, b.headers, b.body
  from checked s join ${contents.table} on b.request = s.position
  where s.check_result = 'filtered' or s.run_id in (select run_id from starting)
)`,
      files && writeFiles(filesTable(p)),
    ),
    repeatIfHalfBound: keys
      ? `(select bool_or(repeat_statement()) from checked
    where key is not null and run_id in (select run_id from event_bound)
      and run_id not in (select run_id from bound)) as repeat`
      : "",
  };
}

/** Returns the common table expression that writes the files of requests and copied files. */
const writeFiles = (filesTable: string) => `stored_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, s.workspace_id, s.run_id,
    case when f.copy_of is null then f.media_type else a.media_type end,
    case when f.copy_of is null then f.content else a.content end
  from starting s join ${filesTable} on f.request = s.position
  left join lateral (
    select a.media_type, a.content from artifacts a
    where a.id = f.copy_of and a.workspace_id = s.workspace_id and a.run_id = s.retry_of limit 1
  ) a on true
  where case when f.copy_of is null then s.status <> 'failed' else a.content is not null end
)`;

/**
 * Returns SQL of columns of `callers`. The column `held` is the number of runs that the trigger
 * holds. It is counted only if the caller's run would be held.
 */
function columnsOfCallers({ triggers, limits }: Parts): string {
  const isPaused = `(a.paused_at is not null${limits ? " or paused.reached is not null" : ""})`;
  return `${isPaused} as is_paused,
    ${triggers ? "coalesce(g.listening_until > now(), false)" : "false"} as is_listening,
    case when c.holds and (${isPaused}${limits ? " or reached.reached is not null" : ""}) then (
      select count(*) from (
        select from runs h join run_inputs i on i.run_id = h.id and i.workspace_id = h.workspace_id
        where h.status = 'waiting' and h.workspace_id = a.workspace_id and h.agent_id = a.id
          and i.trigger_id = g.id
        limit ${maxHeldRuns}
      ) as counted) end as held`;
}

type Indexed<Value> = Value & { readonly request: number };

const requestsOf = ({ rows }: { readonly rows: readonly StartRow[] }): Indexed<ReceivedStart>[] =>
  rows.flatMap(({ received }, index) =>
    received === undefined ? [] : [{ ...received, request: index + 1 }],
  );

/** The received requests, and the events of runs without one. */
const eventsOf = ({ rows }: { readonly rows: readonly StartRow[] }) =>
  rows.flatMap(({ received, senderEvent }, index) => {
    const event: (SenderEvent & Partial<ReceivedStart>) | undefined = received ?? senderEvent;
    return event === undefined ? [] : [{ ...event, request: index + 1 }];
  });

const filesOf = ({
  rows,
}: {
  readonly rows: readonly StartRow[];
}): Indexed<{ readonly id: string } & Partial<ReceivedFile & CopiedFile>>[] =>
  rows.flatMap(({ files = [] }, index) => files.map((file) => ({ ...file, request: index + 1 })));

function filesTable<Input extends { readonly rows: readonly StartRow[] }>(
  p: Parameters<Input>,
): string {
  return p.rows("f", filesOf, {
    request: ["int", (row) => row.request],
    id: ["text", (row) => row.id],
    media_type: ["text", (row) => row.mediaType ?? null],
    content: ["bytea", (row) => row.content ?? null],
    copy_of: ["text", (row) => row.copyOf ?? null],
  }).table;
}
