import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Plan } from "./world.ts";

/** Connections to the database. This file reads runs directly from the tables, without the API. */
type Database = Pick<Pool, "query">;

/**
 * Returns the id of the process that owns the plan's run, or owned it last. Returns undefined if no
 * process has owned the run yet.
 */
export async function ownerOf(database: Database, plan: Plan): Promise<string | undefined> {
  const { rows } = await database.query<{ owner: string | null }>(
    // An earlier start request that got a 503 can have left a cancelled run of the same plan.
    `select r.owner from runs r join run_inputs i on i.run_id = r.id
      where i.payload = $1 and r.status <> 'cancelled'`,
    [JSON.stringify(plan)],
  );
  return rows[0]?.owner ?? undefined;
}

/** Waits until every run has ended, or `withinMs` is over. Returns how many have not ended. */
export async function awaitEnds(database: Database, withinMs: number): Promise<number> {
  for (const deadline = performance.now() + withinMs; ; await delay(100)) {
    const { rows } = await database.query<{ left: number }>(
      "select count(*)::int as left from runs where finished_at is null",
    );
    const unended = rows[0]?.left ?? 0;
    if (unended === 0 || performance.now() > deadline) return unended;
  }
}

/** A run as stored in the database. */
interface RunRow {
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly fence: number;
  readonly last_seq: number;
  readonly owner: string | null;
  readonly payload: string;
  /** Whether the run has a row in `run_results`, which has `output` and `error_code`. */
  readonly has_result: boolean;
  readonly output: string | null;
  readonly error_code: string | null;
}

/** The checked fields of a journal event. */
interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly call_id: string | null;
  readonly tool: string | null;
  readonly key: string | null;
  readonly outcome: string | null;
}

/** A tool call in the journal (`run.tool_call`), and the outcome of its result if there is one. */
export interface StoredCall {
  readonly tool: string;
  readonly key: string;
  readonly outcome: string | null;
}

/** One run with a summary of its journal. */
export interface StoredRun extends RunRow {
  readonly seqs: readonly number[];
  readonly types: readonly string[];
  /** Types of the final events. A correct journal of an ended run has exactly one. */
  readonly ends: readonly string[];
  /** Number of `run.started` and `run.resumed` events. */
  readonly claims: number;
  readonly steps: number;
  readonly lost: number;
  readonly calls: readonly StoredCall[];
}

/** Returns all runs, or those of this plan: row, result and journal from one snapshot. */
export async function readRuns(database: Database, plan?: Plan): Promise<StoredRun[]> {
  const { rows } = await database.query<RunRow & { journal: readonly EventRow[] }>(
    `select r.id, r.status, r.attempt, r.fence, r.last_seq, r.owner, i.payload,
        e.run_id is not null as has_result, e.output, e.error_code,
        (select coalesce(json_agg(json_build_object('seq', j.seq, 'type', j.type,
          'call_id', j.data ->> 'call_id', 'tool', j.data ->> 'tool',
          'key', j.data ->> 'idempotency_key', 'outcome', j.data ->> 'outcome') order by j.seq), '[]')
          from events j where j.run_id = r.id) as journal
      from run_inputs i join runs r on r.id = i.run_id left join run_results e on e.run_id = r.id
      where $1::text is null or i.payload = $1`,
    [plan === undefined ? null : JSON.stringify(plan)],
  );
  return rows.map(({ journal, ...run }) => added(run, journal));
}

function added(run: RunRow, journal: readonly EventRow[]): StoredRun {
  const types = journal.map(({ type }) => type);
  const count = (...wanted: readonly string[]) =>
    types.filter((type) => wanted.includes(type)).length;
  const outcomes = new Map(
    journal
      .filter(({ type }) => type === "run.tool_result")
      .map(({ call_id, outcome }) => [call_id, outcome]),
  );
  return {
    ...run,
    types,
    seqs: journal.map(({ seq }) => seq),
    ends: types.filter((type) => ["run.finished", "run.failed", "run.cancelled"].includes(type)),
    claims: count("run.started", "run.resumed"),
    steps: count("run.step"),
    lost: count("run.step_lost"),
    calls: journal
      .filter(({ type }) => type === "run.tool_call")
      .map(({ call_id, tool, key }) => ({
        tool: tool ?? "",
        key: key ?? "",
        outcome: outcomes.get(call_id) ?? null,
      })),
  };
}
