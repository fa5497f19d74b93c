import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { engineVersion } from "./run.ts";

/** A request to give a run's payload to its agent anew. The ids are those of the new run. */
export interface RetryRow {
  readonly runId: string;
  readonly eventId: string;
  readonly auditId: string;
  readonly workspaceId: string;
  readonly original: string;
  /** What the actor may see; null: every agent's. */
  readonly agentIds: readonly string[] | null;
  readonly principal: string;
  readonly address: string | null;
  /** undefined: the body is at fault, which is told when nothing before it refuses. */
  readonly version: "current" | "original" | undefined;
  /** Absent: it may be repeated. */
  readonly once: { readonly scope: string; readonly key: string; readonly bodyHash: Buffer } | undefined;
}

export type RetryAnswer =
  | { readonly verdict: "started" }
  /** An earlier run has the key: it is the answer. */
  | { readonly verdict: "replay"; readonly runId: string }
  /** A request with the same key was written at the same moment. Ask again. */
  | { readonly verdict: "contended" }
  | { readonly verdict: "agent_busy"; readonly maxQueuedRuns: number }
  | { readonly verdict: "not_found" | "idempotency_mismatch" | "agent_deleted" | "agent_paused" | "body" | "unfinished" };

/**
 * The gate for this one way to start a run, on the terms of `start-statement.ts`: one snapshot, one verdict, and what it allows is written in
 * the same statement, the record of it too. It is always queued: whoever has room claims it.
 */
const text = `
with judged as (
  select r.workspace_id, r.agent_id, case when $9::text = 'original' then i.agent_version else a.version end as version, a.max_queued_runs,
    i.source, i.trigger_id, i.payload, i.prompt_prefix, i.content_type, old.run_id as replayed_run,
    case
      when old.body_hash = $12::bytea then 'replay'
      when old.body_hash is not null then 'idempotency_mismatch'
      when a.deleted_at is not null then 'agent_deleted'
      when a.paused_at is not null then 'agent_paused'
      when $9 is null then 'body'
      when r.finished_at is null then 'unfinished'
      when (select count(*) from (
          select from runs q where q.status = 'queued' and q.workspace_id = r.workspace_id and q.agent_id = r.agent_id limit a.max_queued_runs
        ) as counted) >= a.max_queued_runs then 'agent_busy'
      else 'start'
    end as verdict
  from runs r
  join run_inputs i on i.run_id = r.id
  join agents a on a.id = r.agent_id and a.workspace_id = r.workspace_id
  left join lateral (
    select * from idempotency i where i.workspace_id = $4 and i.scope = $10::text and i.key = $11::text limit 1
  ) old on true
  where r.id = $5 and r.workspace_id = $4 and ($6::text[] is null or r.agent_id = any ($6))
), bound as (
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, $10, $11, $12, $1 from judged where verdict = 'start' and $11 is not null
  on conflict do nothing
  returning run_id
), started as (
  insert into runs (id, workspace_id, agent_id, status, fence, last_seq)
  select $1, workspace_id, agent_id, 'queued', 0, 1 from judged where verdict = 'start' and ($11 is null or exists (select from bound))
  returning id
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload, prompt_prefix, content_type, principal, retry_of, engine_version)
  select s.id, j.workspace_id, j.version, j.source, j.trigger_id, j.payload, j.prompt_prefix, j.content_type, $7, $5, ${engineVersion}
  from judged j, started s
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select s.id, 1, j.workspace_id, $2, 'run.queued', ${eventVersion}, '{}' from judged j, started s
), record as (
  insert into audit (id, workspace_id, actor, address, action, target, data)
  select $3, j.workspace_id, $7, $8, 'run.retry', s.id, jsonb_build_object('retry_of', $5::text, 'version', $9)
  from judged j, started s
)
select case when j.verdict = 'start' then case when s.id is null then 'contended' else 'started' end else j.verdict end as verdict,
  j.replayed_run, j.max_queued_runs
from judged j left join started s on true`;

interface Answered {
  readonly verdict: RetryAnswer["verdict"];
  readonly replayed_run: string | null;
  readonly max_queued_runs: number;
}

export async function retryStored(database: Database, row: RetryRow): Promise<RetryAnswer> {
  const { once } = row;
  const { rows } = await database.engine.query<Answered>({
    name: "retry",
    text,
    values: [
      row.runId,
      row.eventId,
      row.auditId,
      row.workspaceId,
      row.original,
      row.agentIds,
      row.principal,
      row.address,
      row.version ?? null,
      once?.scope ?? null,
      once?.key ?? null,
      once?.bodyHash ?? null,
    ],
  });
  const answer = rows[0];
  if (answer === undefined) return { verdict: "not_found" };
  const { verdict, replayed_run: replayed } = answer;
  if (verdict === "replay") return replayed === null ? { verdict: "idempotency_mismatch" } : { verdict, runId: replayed };
  return verdict === "agent_busy" ? { verdict, maxQueuedRuns: answer.max_queued_runs } : { verdict };
}
