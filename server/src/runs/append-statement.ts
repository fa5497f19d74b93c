import { eventVersion, type RunStatus, type TokenUsage } from "@beckon/contract";
import { bigintArray, booleanArray, type Database, intArray, jsonArray, textArray } from "../base/database/index.ts";

/** Entries of one run's journal, and perhaps its end, to be written together. */
export interface AppendRow {
  readonly runId: string;
  readonly workspaceId: string;
  /** The writer's claim: it writes nothing once another process has the run. */
  readonly owner: string;
  readonly fence: number;
  /** The last entry there is; the first of these gets the next number. */
  readonly lastSeq: number;
  readonly entries: readonly AppendEntry[];
  /** Refused when the run is to be cancelled: the entries announce effects. */
  readonly intent: boolean;
  readonly end: RunEnd | undefined;
  /** Queued again for any process: this one drains. */
  readonly handBack?: boolean;
}

export interface AppendEntry {
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  /** Where `data` is too large for the journal: the whole of it, which `data` then refers to. */
  readonly artifact: { readonly id: string; readonly content: string } | undefined;
}

export interface RunEnd {
  readonly status: Extract<RunStatus, "succeeded" | "failed" | "cancelled">;
  readonly output: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly usage: TokenUsage;
  readonly costMicros: number | null;
}

/** `time`: of the entries, as RFC 3339 writes it. `fenced`: another process has the run, or it has ended. `cancelled`: an intent was refused. */
export type AppendAnswer = { readonly verdict: "written"; readonly time: string } | { readonly verdict: "fenced" | "cancelled" };

/**
 * Appends to many runs' journals in one statement and one commit. The update of the run's own row is the fence: entries, result and
 * artifacts are written only for rows it returns. (A join with the row would not fence: it reads a snapshot, the update does not.)
 * They name the write that they belong to by its position.
 *
 * State and owner are compared by `is not distinct from`, which no index answers: a run is to be found by its id. By `=` the planner may take
 * the index of running runs, and each write would walk over all that its process executes.
 */
const text = `
with writes as materialized (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[])
    with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, intent, status, position)
), moved as (
  update runs r set last_seq = w.last_seq + w.entries, last_transaction = current_transaction(), status = coalesce(w.status, r.status), finished_at = case when w.status <> 'queued' then now() end
  from writes w
  where r.id = any ($1) and r.id = w.run_id and r.workspace_id = w.workspace_id
    and r.status is not distinct from 'running' and r.owner is not distinct from w.owner and r.fence = w.fence and r.last_seq = w.last_seq
    and w.owner in (select p.id from processes p where p.died_at is null) and not (w.intent and r.cancel_requested_at is not null)
  returning w.position, r.id, r.workspace_id
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select m.id, e.seq, m.workspace_id, e.id, e.type, ${eventVersion}, e.data
  from unnest($9::int[], $10::int[], $11::text[], $12::text[], $13::jsonb[]) as e (position, seq, id, type, data)
  join moved m on m.position = e.position
), results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens, cached_input_tokens,
    usage_estimated, cost_micros)
  select m.id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens, e.output_tokens, e.cached_input_tokens,
    e.usage_estimated, e.cost_micros
  from unnest($14::int[], $15::text[], $16::text[], $17::text[], $18::bigint[], $19::bigint[], $20::bigint[], $21::boolean[], $22::bigint[])
    as e (position, output, error_code, error_message, input_tokens, output_tokens, cached_input_tokens, usage_estimated, cost_micros)
  join moved m on m.position = e.position
), files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from unnest($23::int[], $24::text[], $25::text[]) as f (position, id, content)
  join moved m on m.position = f.position
)
select json_agg(position) as written, now() as time from moved`;

/** Writes `rows`, one per run, and answers each in order. A row that an earlier send has written is `written`. */
export async function appendToRuns(database: Database, rows: readonly AppendRow[]): Promise<AppendAnswer[]> {
  const entries = rows.flatMap((row, index) =>
    row.entries.map((entry, number) => ({ entry, position: index + 1, seq: row.lastSeq + 1 + number })),
  );
  const ends = rows.flatMap(({ end }, index) => (end === undefined ? [] : [{ ...end, position: index + 1 }]));
  const files = entries.flatMap(({ entry: { artifact }, position }) => (artifact === undefined ? [] : [{ ...artifact, position }]));
  const { rows: answers } = await database.engine.query<{ written: number[] | null; time: Date }>({
    name: "append",
    text,
    values: [
      textArray(rows.map((row) => row.runId)),
      textArray(rows.map((row) => row.workspaceId)),
      textArray(rows.map((row) => row.owner)),
      intArray(rows.map((row) => row.fence)),
      intArray(rows.map((row) => row.lastSeq)),
      intArray(rows.map((row) => row.entries.length)),
      booleanArray(rows.map((row) => row.intent)),
      textArray(rows.map((row) => row.end?.status ?? (row.handBack ? "queued" : null))),
      intArray(entries.map(({ position }) => position)),
      intArray(entries.map(({ seq }) => seq)),
      textArray(entries.map(({ entry }) => entry.id)),
      textArray(entries.map(({ entry }) => entry.type)),
      jsonArray(entries.map(({ entry }) => entry.data)),
      intArray(ends.map(({ position }) => position)),
      textArray(ends.map(({ output }) => output)),
      textArray(ends.map(({ error }) => error?.code ?? null)),
      textArray(ends.map(({ error }) => error?.message ?? null)),
      bigintArray(ends.map(({ usage }) => usage.input_tokens)),
      bigintArray(ends.map(({ usage }) => usage.output_tokens)),
      bigintArray(ends.map(({ usage }) => usage.cached_input_tokens)),
      booleanArray(ends.map(({ usage }) => usage.estimated ?? false)),
      bigintArray(ends.map(({ costMicros }) => costMicros)),
      intArray(files.map(({ position }) => position)),
      textArray(files.map(({ id }) => id)),
      textArray(files.map(({ content }) => content)),
    ],
  });
  const [answer] = answers;
  if (answer === undefined) throw new Error("the append gave no answer");
  const written = new Set(answer.written);
  const time = answer.time.toISOString();
  return Promise.all(rows.map((row, index) => (written.has(index + 1) ? { verdict: "written" as const, time } : whyNot(database, row))));
}

/** Reads what stood in the way: our own entry, whose reply was lost, or a change of hands, or a cancellation. */
async function whyNot(database: Database, row: AppendRow): Promise<AppendAnswer> {
  const { rows } = await database.engine.query<{ ours: Date | null; to_be_cancelled: boolean }>({
    name: "append-why-not",
    text: `select (select e.time from events e where e.run_id = r.id and e.seq = $3 and e.id = $4) as ours,
        r.status = 'running' and r.owner = $5 and r.fence = $6 and r.last_seq = $3 - 1 and r.cancel_requested_at is not null
          and exists (select from processes p where p.id = $5 and p.died_at is null) as to_be_cancelled
      from runs r where r.id = $1 and r.workspace_id = $2`,
    values: [row.runId, row.workspaceId, row.lastSeq + 1, row.entries[0]?.id, row.owner, row.fence],
  });
  const found = rows[0];
  if (found?.ours != null) return { verdict: "written", time: found.ours.toISOString() };
  return { verdict: found?.to_be_cancelled ? "cancelled" : "fenced" };
}
