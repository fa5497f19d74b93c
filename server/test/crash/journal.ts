import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "pg";
import type { Plan } from "./world.ts";

/** What the database says of runs, read past the server. */
type Database = Pick<Pool, "query">;

/** The id of the process that has the plan's run, or last had it. */
export async function ownerOf(database: Database, plan: Plan): Promise<string | undefined> {
  const { rows } = await database.query<{ owner: string | null }>(
    "select r.owner from runs r join run_inputs i on i.run_id = r.id where i.payload = $1",
    [JSON.stringify(plan)],
  );
  return rows[0]?.owner ?? undefined;
}

/** Waits until every run has ended. @returns how many have not, when patience ran out. */
export async function awaitEnds(database: Database, withinMs: number): Promise<number> {
  for (const deadline = performance.now() + withinMs; ; await delay(100)) {
    const { rows } = await database.query<{ left: number }>("select count(*)::int as left from runs where finished_at is null");
    const left = rows[0]?.left ?? 0;
    if (left === 0 || performance.now() > deadline) return left;
  }
}

/** One run with what its journal adds up to. */
export interface StoredRun {
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly fence: number;
  readonly last_seq: number;
  readonly owner: string | null;
  readonly payload: string;
  readonly output: string | null;
  readonly error_code: string | null;
  readonly results: number;
  readonly events: number;
  readonly lowest: number;
  readonly highest: number;
  /** Types of the terminal events, in order. */
  readonly ends: readonly string[];
  readonly last_type: string;
  /** Claims on record: `run.started` and `run.resumed`. */
  readonly claims: number;
  readonly starts: number;
  readonly steps: number;
  readonly lost: number;
  readonly unknown: number;
  /** Each tool call with a result: the call's id, its tool, its key and the result's outcome. */
  readonly tool_calls: readonly { readonly tool: string; readonly key: string; readonly outcome: string | null }[];
}

/** All runs, or those with this plan. */
export async function readRuns(database: Database, plan?: Plan): Promise<StoredRun[]> {
  const { rows } = await database.query<StoredRun>(
    `with wanted as (
      select run_id from run_inputs where $1::text is null or payload = $1
    ), journal as (
      select run_id, count(*)::int as events, min(seq) as lowest, max(seq) as highest,
        coalesce(array_agg(type order by seq) filter (where type in ('run.finished', 'run.failed', 'run.cancelled')), '{}') as ends,
        (array_agg(type order by seq desc))[1] as last_type,
        count(*) filter (where type in ('run.started', 'run.resumed'))::int as claims,
        count(*) filter (where type = 'run.started')::int as starts,
        count(*) filter (where type = 'run.step')::int as steps,
        count(*) filter (where type = 'run.step_lost')::int as lost,
        count(*) filter (where type = 'run.tool_result' and data ->> 'outcome' = 'unknown')::int as unknown
      from events where run_id in (select run_id from wanted) group by run_id
    ), calls as (
      select c.run_id, jsonb_agg(jsonb_build_object('tool', c.data ->> 'tool', 'key', c.data ->> 'idempotency_key', 'outcome', o.data ->> 'outcome')) as tool_calls
      from events c left join events o on o.run_id = c.run_id and o.type = 'run.tool_result' and o.data ->> 'call_id' = c.data ->> 'call_id'
      where c.type = 'run.tool_call' and c.run_id in (select run_id from wanted) group by c.run_id
    )
    select r.id, r.status, r.attempt, r.fence, r.last_seq, r.owner, i.payload, e.output, e.error_code,
      (e.run_id is not null)::int as results, j.events, j.lowest, j.highest, j.ends, j.last_type, j.claims, j.starts, j.steps, j.lost, j.unknown,
      coalesce(c.tool_calls, '[]') as tool_calls
    from wanted w join runs r on r.id = w.run_id join run_inputs i on i.run_id = r.id left join run_results e on e.run_id = r.id
      left join journal j on j.run_id = r.id left join calls c on c.run_id = r.id`,
    [plan === undefined ? null : JSON.stringify(plan)],
  );
  return rows;
}
