import type { EventOnWire, RunEvent } from "@beckon/contract";
import type { Database } from "../../base/database/index.ts";
import { parseJsonColumn, withData } from "../../base/json/index.ts";
import { summarizedData } from "../../events/index.ts";

interface EventRow {
  readonly id: string;
  readonly run_id: string;
  readonly seq: number;
  readonly type: string;
  readonly version: number;
  readonly time: Date;
  /** JSON. `pg` would round large integers of a `jsonb` column. */
  readonly data: string;
}

function toEvent(row: EventRow): EventOnWire {
  return { ...row, time: row.time.toISOString(), data: parseJsonColumn(row.data) };
}

/** Returns an event that takes little memory while it waits for the reader of a stream. */
function toWaitingEvent({ data, time, ...row }: EventRow): EventOnWire {
  return withData({ ...row, time: time.toISOString() }, data);
}

/** Returns up to `limit` events of a run with sequence numbers above `after`, oldest first. */
export async function readEvents(
  database: Database,
  run: { runId: string; workspaceId: string },
  after: number,
  limit: number,
): Promise<EventOnWire[]> {
  const { rows } = await database.engine.query<EventRow>({
    name: "read-events",
    text: `select id, run_id, seq, type, version, time, data::text from events
      where run_id = $1 and workspace_id = $2 and seq > $3 order by seq limit $4`,
    values: [run.runId, run.workspaceId, after, limit],
  });
  return rows.map(toEvent);
}

/**
 * Like `readEvents`, but returns summaries: events without arguments, results, outputs and texts.
 */
export async function readEventSummaries(
  database: Database,
  run: { runId: string; workspaceId: string },
  after: number,
  limit: number,
): Promise<EventOnWire[]> {
  const { rows } = await database.engine.query<EventRow>({
    name: "read-event-summaries",
    text: `select id, run_id, seq, type, version, time,
        (${summarizedData("data")})::text as data from events
      where run_id = $1 and workspace_id = $2 and seq > $3 order by seq limit $4`,
    values: [run.runId, run.workspaceId, after, limit],
  });
  return rows.map(toEvent);
}

/**
 * Returns the next events with sequence numbers above `after`, oldest first: at least one if there
 * is any, and at most `maxEvents`. Once the data of the returned events has `maxCharacters`
 * characters, no more events are added. The defaults are those of streams: many streams can read at
 * the same time, so each result must be small.
 */
export async function readSomeEvents(
  database: Database,
  run: { runId: string; workspaceId: string },
  after: number,
  { maxEvents = 32, maxCharacters = 64 * 1024 } = {},
): Promise<EventOnWire[]> {
  const { rows } = await database.engine.query<EventRow>({
    name: "read-some-events",
    text: `select id, run_id, seq, type, version, time, data::text from (
        select e.*, coalesce(sum(length(e.data::text)) over (
          order by e.seq rows between unbounded preceding and 1 preceding), 0) as before
        from (
          select id, run_id, seq, type, version, time, data from events
            where run_id = $1 and workspace_id = $2 and seq > $3 order by seq limit $4) e) e
      where before < $5 order by seq`,
    values: [run.runId, run.workspaceId, after, maxEvents, maxCharacters],
  });
  return rows.map(toWaitingEvent);
}

/**
 * Returns the whole journal, from which the engine resumes the run. The data of large events is
 * read from their artifacts.
 */
export async function readJournal(
  database: Database,
  run: { runId: string; workspaceId: string },
): Promise<RunEvent[]> {
  const { rows } = await database.engine.query<EventRow>({
    name: "read-journal",
    text: `select e.id, e.run_id, e.seq, e.type, e.version, e.time,
        coalesce(convert_from(a.content, 'UTF8'), e.data::text) as data
      from events e left join artifacts a on e.data ? 'artifact_id'
        and a.id = e.data ->> 'artifact_id' and a.workspace_id = e.workspace_id
        and a.run_id = e.run_id
      where e.run_id = $1 and e.workspace_id = $2 order by e.seq`,
    values: [run.runId, run.workspaceId],
  });
  // The cast is safe: this version of the code or an older one wrote the events from these types.
  // Claims select only runs whose engine version this code can read.
  return rows.map(toEvent) as unknown as RunEvent[];
}

/** Returns the size of the JSON that `readJournal` would read, in bytes. */
export async function readJournalBytes(
  database: Database,
  run: { runId: string; workspaceId: string },
): Promise<number> {
  const { rows } = await database.engine.query<{ bytes: string }>({
    name: "read-journal-bytes",
    text: `select
        coalesce(sum(coalesce(octet_length(a.content), octet_length(e.data::text))), 0) as bytes
      from events e left join artifacts a on e.data ? 'artifact_id'
        and a.id = e.data ->> 'artifact_id' and a.workspace_id = e.workspace_id
        and a.run_id = e.run_id
      where e.run_id = $1 and e.workspace_id = $2`,
    values: [run.runId, run.workspaceId],
  });
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * Returns the input of a run, which consists of the prompt prefix and the payload.
 * @throws if the run does not exist.
 */
export async function readInput(
  database: Database,
  run: { runId: string; workspaceId: string },
): Promise<string> {
  const { rows } = await database.engine.query<{ input: string }>({
    name: "read-input",
    text: `select run_input(prompt_prefix, payload) as input from run_inputs
      where run_id = $1 and workspace_id = $2`,
    values: [run.runId, run.workspaceId],
  });
  if (rows[0] === undefined) throw new Error(`run ${run.runId} has no input`);
  return rows[0].input;
}
