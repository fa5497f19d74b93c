import { type Database, type Statement, statement } from "../../base/database/index.ts";
import { insertEvents } from "../../events/index.ts";
import { addEvents, insertResults } from "./end-runs.ts";
import type { AppendEntry } from "./journal-entry.ts";
import type { RunEnd } from "./run-end.ts";

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
  readonly release?: boolean;
}

/** `time`: of the entries, as RFC 3339 writes it. `fenced`: another process has the run, or it has ended. `cancelled`: an intent was refused. */
export type AppendAnswer =
  | { readonly verdict: "written"; readonly time: string }
  | { readonly verdict: "fenced" | "cancelled" };

/** Rows of one statement, taken apart into the tables that it writes. */
interface AppendInput {
  readonly rows: readonly AppendRow[];
  readonly entries: readonly {
    readonly entry: AppendEntry;
    readonly write: number;
    readonly seq: number;
  }[];
  readonly ends: readonly (RunEnd & { readonly write: number })[];
  readonly files: readonly {
    readonly id: string;
    readonly content: string;
    readonly write: number;
  }[];
}

/**
 * Appends to many runs' journals in one statement and one commit. The update of the run's own row is the fence:
 * entries, result and artifacts are written only for rows it returns. A join with the row would not fence: it
 * reads a snapshot, the update does not.
 */
const append = (name: string, owner: "living" | "dead") =>
  statement<AppendInput>(name, (p) => {
    const writes = p.rows("w", (input) => input.rows, {
      run_id: ["text", (row) => row.runId],
      workspace_id: ["text", (row) => row.workspaceId],
      owner: ["text", (row) => row.owner],
      fence: ["int", (row) => row.fence],
      last_seq: ["int", (row) => row.lastSeq],
      entries: ["int", (row) => row.entries.length],
      intent: ["boolean", (row) => row.intent],
      status: ["text", (row) => row.end?.status ?? (row.release ? "queued" : null)],
    });
    const entries = p.rows("e", (input) => input.entries, {
      write: ["int", (row) => row.write],
      seq: ["int", (row) => row.seq],
      id: ["text", (row) => row.entry.id],
      type: ["text", (row) => row.entry.type],
      data: ["jsonb", (row) => row.entry.data],
    });
    const ends = p.rows("e", (input) => input.ends, {
      write: ["int", (row) => row.write],
      output: ["text", (row) => row.output],
      error_code: ["text", (row) => row.error?.code ?? null],
      error_message: ["text", (row) => row.error?.message ?? null],
      input_tokens: ["bigint", (row) => row.usage.input_tokens],
      output_tokens: ["bigint", (row) => row.usage.output_tokens],
      cached_input_tokens: ["bigint", (row) => row.usage.cached_input_tokens],
      usage_estimated: ["boolean", (row) => row.usage.estimated ?? false],
      cost_micros: ["bigint", (row) => row.costMicros],
    });
    const files = p.rows("f", (input) => input.files, {
      write: ["int", (row) => row.write],
      id: ["text", (row) => row.id],
      content: ["text", (row) => row.content],
    });
    return `
with writes as materialized (
  select * from ${writes.table}
), moved as (
  update runs r set status = coalesce(w.status, r.status),
    finished_at = case when w.status <> 'queued' then now() end, ${addEvents("w.entries")}
  from writes w
  where r.id = any (${writes.column("run_id")}) and r.id = w.run_id and r.workspace_id = w.workspace_id
    -- No index answers "is not distinct from". With "=" the planner may take the index of running runs, and each
    -- row would walk over all that its process executes.
    and r.status is not distinct from 'running' and r.owner is not distinct from w.owner
    and r.fence = w.fence and r.last_seq = w.last_seq
    -- A process on record as dead writes nothing more, and no effect is announced for a run to be cancelled.
    and w.owner in (select p.id from processes p where p.died_at is ${owner === "living" ? "null" : "not null"})
    and not (w.intent and r.cancel_requested_at is not null)
  returning w.position, r.id, r.workspace_id, r.agent_id, r.last_transaction
), new_events as (
  select m.id as run_id, e.seq, m.workspace_id, m.agent_id, m.last_transaction as transaction, e.id, e.type, e.data
  from ${entries.table} join moved m on m.position = e.write
), ${insertEvents("new_events")}, results as (
  select m.id as run_id, m.workspace_id, e.output, e.error_code, e.error_message, e.input_tokens,
    e.output_tokens, e.cached_input_tokens, e.usage_estimated, e.cost_micros
  from ${ends.table} join moved m on m.position = e.write
), ${insertResults("results")}, written_files as (
  insert into artifacts (id, workspace_id, run_id, media_type, content)
  select f.id, m.workspace_id, m.id, 'application/json', convert_to(f.content, 'UTF8')
  from ${files.table} join moved m on m.position = f.write
)
select json_agg(position) as written, now() as time from moved`;
  });

const byLiving = append("append", "living");
const byDead = append("append-for-dead", "dead");

/** For review. */
export const appendStatements = [byLiving, byDead];

/** Writes `rows`, one per run, and answers each in order. A row that an earlier send has written is `written`. */
export async function appendToRuns(
  database: Database,
  rows: readonly AppendRow[],
): Promise<AppendAnswer[]> {
  const { written, time } = await send(database, byLiving, rows);
  return Promise.all(
    rows.map((row, index) =>
      written.has(index + 1) ? { verdict: "written" as const, time } : whyNot(database, row),
    ),
  );
}

/** Writes `rows` of runs whose owners are on record as dead; those that another process has taken are left out. */
export async function appendForDead(database: Database, rows: readonly AppendRow[]): Promise<void> {
  await send(database, byDead, rows);
}

async function send(
  database: Database,
  prepared: Statement<AppendInput>,
  rows: readonly AppendRow[],
): Promise<{ readonly written: ReadonlySet<number>; readonly time: string }> {
  const entries = rows.flatMap((row, index) =>
    row.entries.map((entry, number) => ({
      entry,
      write: index + 1,
      seq: row.lastSeq + 1 + number,
    })),
  );
  const ends = rows.flatMap(({ end }, index) =>
    end === undefined ? [] : [{ ...end, write: index + 1 }],
  );
  const files = entries.flatMap(({ entry: { artifact }, write }) =>
    artifact === undefined ? [] : [{ ...artifact, write }],
  );
  const { rows: answers } = await database.engine.query<{ written: number[] | null; time: Date }>(
    prepared.query({ rows, entries, ends, files }),
  );
  const [answer] = answers;
  if (answer === undefined) throw new Error("the append gave no answer");
  return { written: new Set(answer.written), time: answer.time.toISOString() };
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
