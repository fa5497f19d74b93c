import { endKinds } from "@beckon/contract";
import { type Database, type Queryable, timeText } from "../base/database/index.ts";
import { parseJsonColumn, withData } from "../base/json/index.ts";
import { someSubscriptions } from "./insert-deliveries.ts";
import { beforeTransaction, type Position } from "./position.ts";
import { summarizedData } from "./summary.ts";

/** A run event or a workspace event, with its position. */
export interface StoredEvent extends Position {
  readonly id: string;
  readonly workspaceId: string;
  /**
   * The agent that the event concerns; null for a workspace event that concerns no single agent.
   */
  readonly agentId: string | null;
  readonly type: string;
  readonly version: number;
  readonly time: string;
  readonly data: Record<string, unknown>;
  /** Length of the JSON of `data`. */
  readonly characters: number;
  /** The first of the run's events that this one, which ends the run, replaces. */
  readonly merged?: MergedEvent;
}

/** The first of the events that the end of their run replaces: see `merge` of `readEventBatch`. */
export type MergedEvent = Pick<StoredEvent, "seq" | "type" | "time">;

/** Some of the events after a position. */
export interface EventBatch {
  readonly events: readonly StoredEvent[];
  /** Number of events that were read: `events`, and those that they replace. */
  readonly readCount: number;
  /**
   * All events of the workspaces up to this position have been read. The next batch starts after
   * it. It is the position of the last event, or one that the caller gave: see `readEnd`.
   */
  readonly end: Position;
  /** Whether the batch has as many events as its limits allow, so that there may be more. */
  readonly hasMore: boolean;
  /**
   * Whether a transaction is open. Until it ends, events of transactions with higher ids are
   * hidden, even if they are committed.
   */
  readonly isHeldBack: boolean;
}

interface Row {
  readonly transaction: string;
  readonly run_id: string;
  readonly seq: string;
  readonly id: string | null;
  readonly workspace_id: string;
  readonly agent_id: string | null;
  readonly type: string;
  readonly version: number;
  /** In RFC 3339 format. Decoding a text takes less time than a `Date` and formatting it again. */
  readonly time: string;
  /** JSON. `pg` would round large integers of a `jsonb` column. */
  readonly data: string;
  /** Seq, type and time of the merged event, separated by spaces; null if there is none. */
  readonly merged?: string | null;
}

/**
 * A row of a batch. The columns here describe the whole batch, and are null in all rows but the
 * first, because decoding a value takes time for each row. If there are no events, the only row has
 * just `held`.
 */
interface BatchRow extends Row {
  readonly held: boolean | null;
  /** Number of events within `limit`, including those left out for their size; null if none. */
  readonly found: number | null;
  /** Number of events that were not left out for their size; null if none. */
  readonly kept: number | null;
}

/**
 * Once the data of a batch has this many characters, no more events are added. Parsed data can take
 * 20 times as much memory. A batch can be limited to fewer.
 */
const maxBatchCharacters = 1024 * 1024;

/**
 * Selects `horizon` and `held`. `horizon` is the id of the oldest open transaction or, if none is
 * open, the id that the next transaction will get. `held` is true if a transaction is open. All
 * transactions with ids below `horizon` have ended, so they write no more events.
 */
const snapshot = `(select pg_snapshot_xmin(s)::text::bigint as horizon,
    pg_snapshot_xmin(s) < pg_snapshot_xmax(s) as held
  from pg_current_snapshot() as s) as snapshot`;

/** Which of the two event tables are read. */
export interface EventSources {
  /** Whether to read events of runs. Default true. */
  readonly ofRuns?: boolean;
  /** Whether to read workspace events. Default true. */
  readonly ofWorkspace?: boolean;
}

interface BatchOptions extends EventSources {
  readonly after: Position;
  /** Last position to read. Default: the position before the oldest open transaction. */
  readonly upTo?: Position;
  readonly limit: number;
  /** Once the data of the batch has this many characters, no more are added. Default: 1 MiB. */
  readonly maxCharacters?: number;
  /** Whether to read summaries of run events: see `summarizedData`. Default false. */
  readonly summaries?: boolean;
  /**
   * Whether an event that ends a run replaces the earlier events of the run in the batch, except
   * `run.queued` and `run.waiting`. Default false.
   */
  readonly merge?: boolean;
  /**
   * Whether the data of the events is kept as text and parsed at each access, because the events
   * wait for a reader. Default false.
   */
  readonly keepsText?: boolean;
}

/**
 * Returns the condition that selects the events of a batch, for both tables. PostgreSQL can use the
 * table's index for the comparisons in the first two lines of the condition. The last line excludes
 * events of the first and the last transaction that are outside of the batch.
 */
const within = (position: string) => `e.workspace_id = w.id
            and e.transaction >= $2::bigint and e.transaction <= $5::bigint
            and e.transaction < snapshot.horizon
            and ${position} > ($2, $3, $4::bigint) and ${position} <= ($5, $6, $7::bigint)`;

const inOrder = "order by e.transaction, e.run_id, e.seq";

/** Returns SQL of a column that is null in all rows of a batch but the first. */
const ofFirstRow = (column: string) =>
  `case when row_number() over (${inOrder}) > 1 then null else ${column} end`;

/**
 * Parts of the query that reads all events, and of the one that merges those of ended runs. Events
 * of waiting runs are not merged. So the first event that the end of a run replaces is
 * `run.started`, if the batch has that.
 */
const partsOfAll = { columns: "", window: "", condition: "" };
const partsOfMerged = {
  columns: `, last_value(e.type) over of_run = any ('{${endKinds.join(",")}}') as has_ended,
            last_value(e.seq) over of_run as last_seq, first_value(e.seq) over of_run as first_seq,
            first_value(e.type) over of_run as first_type,
            first_value(e.time) over of_run as first_time`,
  window: `window of_run as (
            partition by e.run_id, e.type in ('run.queued', 'run.waiting') ${inOrder}
            rows between unbounded preceding and unbounded following)`,
  condition: "where not e.has_ended or e.seq = e.last_seq",
};
/** SQL of the text that `toMerged` parses. */
const mergedText = `case when e.has_ended and e.first_seq < e.seq
        then e.first_seq || ' ' || e.first_type || ' ' || ${timeText("e.first_time")} end`;

/**
 * Reads events of some workspaces after the position `after`, in order: up to `limit` events, fewer
 * if their data is large. Does not read events of the oldest open transaction or of transactions
 * with higher ids. The open transaction could still write events, and a reader that had already
 * read later events would miss them.
 */
export async function readEventBatch(
  database: Queryable,
  workspaceIds: readonly string[],
  {
    after,
    upTo,
    limit,
    maxCharacters = maxBatchCharacters,
    ofRuns = true,
    ofWorkspace = true,
    summaries = false,
    merge = false,
    keepsText = false,
  }: BatchOptions,
): Promise<EventBatch> {
  const selected = merge ? partsOfMerged : partsOfAll;
  const { rows } = await database.query<BatchRow>({
    name: `read-event-${summaries ? "summaries-" : ""}${merge ? "merged-" : ""}batch`,
    text: `select ${ofFirstRow("snapshot.held")} as held, ${ofFirstRow("e.found")} as found,
        ${ofFirstRow("e.kept")} as kept, e.transaction, e.run_id, e.seq, e.id, e.workspace_id,
        e.agent_id, e.type, e.version, ${timeText("e.time")} as time,
        e.data${merge ? `, ${mergedText} as merged` : ""}
      from ${snapshot} left join lateral (
        select e.* from (
          select e.*, count(*) over ()::int as kept${selected.columns}
          from (
            select e.*, count(*) over ()::int as found,
              coalesce(sum(length(e.data)) over (${inOrder}
                rows between unbounded preceding and 1 preceding), 0) as before
            from (
              select e.transaction, e.run_id, e.seq::bigint, e.id, e.workspace_id, r.agent_id,
                e.type, e.version, e.time,
                (${summaries ? summarizedData("e.data") : "e.data"})::text as data
              from unnest($1::text[]) as w (id), lateral (
                select * from events e where $9 and ${within("(e.transaction, e.run_id, e.seq)")}
                ${inOrder} limit $8
              ) as e join runs r on r.id = e.run_id and r.workspace_id = e.workspace_id
              union all
              select e.transaction, '', e.number, e.id, e.workspace_id, e.agent_id, e.type,
                e.version, e.time, e.data::text
              from unnest($1::text[]) as w (id), lateral (
                select * from workspace_events e
                where $10 and ${within("(e.transaction, '', e.number)")}
                order by e.transaction, e.number limit $8
              ) as e
              order by transaction, run_id, seq limit $8
            ) as e
          ) as e where e.before < $11 ${selected.window}
        ) as e ${selected.condition}
      ) as e on true ${inOrder}`,
    values: [
      workspaceIds,
      ...valuesOf(after),
      ...(upTo === undefined ? endless : valuesOf(upTo)),
      limit,
      ofRuns,
      ofWorkspace,
      maxCharacters,
    ],
  });
  const [first] = rows;
  if (first === undefined) throw new Error("a snapshot has no row");
  const events = rows.flatMap((row) =>
    row.id === null ? [] : toStoredEvent(row, row.id, keepsText),
  );
  const last = events.at(-1);
  const [found, readCount] = [first.found ?? 0, first.kept ?? 0];
  const hasMore = found === limit || readCount < found;
  return {
    events,
    readCount,
    hasMore,
    isHeldBack: first.held === true,
    end: hasMore || upTo === undefined ? (last ?? after) : upTo,
  };
}

/**
 * Returns the limit for the batch that follows the given one. `limit` is the limit with which the
 * given batch was read. If that batch was truncated because its data was large, the next limit is
 * twice the number of events read, at most `maxEvents`. A higher limit would cost time, because
 * PostgreSQL reads the data of all events within the limit, including those that it then leaves
 * out. If the batch was not truncated, the next limit is `maxEvents`.
 */
export function nextLimit(
  { readCount, hasMore }: Pick<EventBatch, "readCount" | "hasMore">,
  limit: number,
  maxEvents: number,
): number {
  const isSizeLimited = hasMore && readCount < limit;
  return isSizeLimited ? Math.min(maxEvents, 2 * readCount) : maxEvents;
}

const valuesOf = ({ transaction, runId, seq }: Position) => [transaction, runId, seq] as const;
const endless = ["9223372036854775807", "", 0] as const;

function toStoredEvent(row: Row, id: string, keepsText: boolean): StoredEvent {
  const event = {
    transaction: Number(row.transaction),
    runId: row.run_id,
    seq: Number(row.seq),
    id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    type: row.type,
    version: row.version,
    time: row.time,
    characters: row.data.length,
    ...(row.merged == null ? {} : { merged: toMerged(row.merged) }),
  };
  if (keepsText) return withData(event, row.data);
  return { ...event, data: parseJsonColumn(row.data) };
}

function toMerged(text: string): MergedEvent {
  const [seq = "", type = "", time = ""] = text.split(" ");
  return { seq: Number(seq), type, time };
}

/**
 * Returns a workspace event, and the generation of this installation, which cursors contain;
 * undefined if there is no such event.
 */
export async function findWorkspaceEvent(
  database: Queryable,
  workspaceId: string,
  id: string,
): Promise<{ event: StoredEvent; generation: string } | undefined> {
  const { rows } = await database.query<Row & { generation: string }>({
    name: "find-workspace-event",
    text: `select i.generation::text, e.transaction, '' as run_id, e.number as seq, e.id,
        e.workspace_id, e.agent_id, e.type, e.version, ${timeText("e.time")} as time,
        e.data::text
      from workspace_events e cross join installation i
      where e.id = $1 and e.workspace_id = $2`,
    values: [id, workspaceId],
  });
  const [row] = rows;
  return row && { event: toStoredEvent(row, id, false), generation: row.generation };
}

/**
 * Returns the position up to which events can be read now: the one just before the oldest open
 * transaction. All later transactions write events after this position, even if the database
 * crashes.
 *
 * After a crash, PostgreSQL assigns the ids again of those transactions of which nothing was on the
 * disk. A position before such a transaction, as the horizon of a snapshot can be, would then be
 * after new events, and its readers would miss these. So this statement writes a message to the
 * write-ahead log, which does nothing else. When the statement is committed, its own transaction id
 * is on the disk, and no lower id can be assigned again.
 */
export async function readEnd(database: Queryable): Promise<Position> {
  const { rows } = await database.query<{ horizon: string }>({
    name: "read-end",
    text: `select horizon, pg_logical_emit_message(true, 'beckon', '') from ${snapshot}`,
  });
  return beforeTransaction(Number(rows[0]?.horizon));
}

/**
 * Returns the generation of this installation, and whether a position is possible in it. A position
 * is impossible if its transaction id is higher than any so far, or if its event exists in this
 * workspace with another transaction id. Either shows that the database was restored. A position
 * whose event does not exist is possible, since events are deleted together with their runs. An
 * event of another workspace counts as one that does not exist, so that a forged cursor shows
 * nothing about it.
 */
export async function readGeneration(
  database: Queryable,
  workspaceId: string,
  { transaction, runId, seq }: Position,
): Promise<{ generation: string; possible: boolean }> {
  const { rows } = await database.query<{ generation: string; possible: boolean }>({
    name: "read-generation",
    text: `select generation::text,
        $1::bigint <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        and not exists (
          select from events
          where run_id = $2 and seq = $3::bigint and transaction <> $1 and workspace_id = $4)
        and not exists (
          select from workspace_events
          where $2 = '' and number = $3 and transaction <> $1 and workspace_id = $4
        ) as possible
      from installation`,
    values: [transaction, runId, seq, workspaceId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the installation has no row");
  return row;
}

/** Returns whether any workspace has a subscription. */
export async function readSomeSubscriptions({
  engine,
}: Pick<Database, "engine">): Promise<boolean> {
  const { rows } = await engine.query<{ some: boolean }>({
    name: "some-subscriptions",
    text: `select ${someSubscriptions} as some`,
    values: [],
  });
  return rows[0]?.some === true;
}
