import { eventVersion, type RunStatus, type TokenUsage } from "@beckon/contract";
import { arrayLiteral, type Database } from "../base/database/index.ts";

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

/** `fenced`: another process has the run, or it has ended. `cancelled`: an intent was refused. */
export type AppendAnswer = { readonly verdict: "written"; readonly time: Date } | { readonly verdict: "fenced" | "cancelled" };

/**
 * Appends to many runs' journals in one statement and one commit. The update of the run's own row is the fence: entries, result and
 * artifacts are written only for rows it returns. (A join with the row would not fence: it reads a snapshot, the update does not.)
 */
const text = `
with writes as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::boolean[], $8::text[], $9::text[], $10::text[],
    $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::boolean[], $16::bigint[])
    with ordinality as w (run_id, workspace_id, owner, fence, last_seq, entries, intent, status, output, error_code, error_message,
      input_tokens, output_tokens, cached_input_tokens, usage_estimated, cost_micros, position)
), moved as (
  update runs r set last_seq = w.last_seq + w.entries, last_transaction = current_transaction(), status = coalesce(w.status, r.status), finished_at = case when w.status <> 'queued' then now() end
  from writes w
  where r.id = any ($1) and r.id = w.run_id and r.workspace_id = w.workspace_id and r.status = 'running' and r.owner = w.owner
    and w.owner in (select p.id from processes p where p.died_at is null) and r.fence = w.fence and r.last_seq = w.last_seq and not (w.intent and r.cancel_requested_at is not null)
  returning r.id
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select e.run_id, e.seq, e.workspace_id, e.id, e.type, ${eventVersion}, e.data::jsonb
  from unnest($17::text[], $18::int[], $19::text[], $20::text[], $21::text[], $22::text[]) as e (run_id, seq, workspace_id, id, type, data)
  join moved m on m.id = e.run_id
), results as (
  insert into run_results (run_id, workspace_id, output, error_code, error_message, input_tokens, output_tokens, cached_input_tokens,
    usage_estimated, cost_micros)
  select w.run_id, w.workspace_id, w.output, w.error_code, w.error_message, w.input_tokens, w.output_tokens, w.cached_input_tokens,
    w.usage_estimated, w.cost_micros
  from writes w join moved m on m.id = w.run_id where w.status <> 'queued'
), files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, f.workspace_id, f.run_id, 'application/json', convert_to(f.content, 'UTF8')
  from unnest($23::text[], $24::text[], $25::text[], $26::text[]) as f (id, workspace_id, run_id, content)
  join moved m on m.id = f.run_id
)
select m.id is not null as written, now() as time from writes w left join moved m on m.id = w.run_id order by w.position`;

/** Writes `rows`, one per run, and answers each in order. A row that an earlier send has written is `written`. */
export async function appendToRuns(database: Database, rows: readonly AppendRow[]): Promise<AppendAnswer[]> {
  const column = (pick: (row: AppendRow) => string | number | boolean | null) => arrayLiteral(rows.map(pick));
  const entries = rows.flatMap((row) =>
    row.entries.map((entry, index) => ({ ...entry, runId: row.runId, workspaceId: row.workspaceId, seq: row.lastSeq + 1 + index })),
  );
  const files = entries.flatMap((entry) =>
    entry.artifact === undefined ? [] : [{ ...entry.artifact, runId: entry.runId, workspaceId: entry.workspaceId }],
  );
  const answer = await database.engine.query<{ written: boolean; time: Date }>({
    name: "append",
    text,
    values: [
      column((row) => row.runId),
      column((row) => row.workspaceId),
      column((row) => row.owner),
      column((row) => row.fence),
      column((row) => row.lastSeq),
      column((row) => row.entries.length),
      column((row) => row.intent),
      column((row) => row.end?.status ?? (row.handBack ? "queued" : null)),
      column((row) => row.end?.output ?? null),
      column((row) => row.end?.error?.code ?? null),
      column((row) => row.end?.error?.message ?? null),
      column((row) => row.end?.usage.input_tokens ?? 0),
      column((row) => row.end?.usage.output_tokens ?? 0),
      column((row) => row.end?.usage.cached_input_tokens ?? 0),
      column((row) => row.end?.usage.estimated ?? false),
      column((row) => row.end?.costMicros ?? null),
      arrayLiteral(entries.map((entry) => entry.runId)),
      arrayLiteral(entries.map((entry) => entry.seq)),
      arrayLiteral(entries.map((entry) => entry.workspaceId)),
      arrayLiteral(entries.map((entry) => entry.id)),
      arrayLiteral(entries.map((entry) => entry.type)),
      arrayLiteral(entries.map((entry) => entry.data)),
      arrayLiteral(files.map((file) => file.id)),
      arrayLiteral(files.map((file) => file.workspaceId)),
      arrayLiteral(files.map((file) => file.runId)),
      arrayLiteral(files.map((file) => file.content)),
    ],
  });
  return Promise.all(
    rows.map((row, index) => {
      const result = answer.rows[index];
      return result?.written ? { verdict: "written" as const, time: result.time } : whyNot(database, row);
    }),
  );
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
  if (found?.ours != null) return { verdict: "written", time: found.ours };
  return { verdict: found?.to_be_cancelled ? "cancelled" : "fenced" };
}
