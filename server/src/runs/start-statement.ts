import { eventVersion } from "@beckon/contract";
import { arrayLiteral, type Database } from "../base/database/index.ts";
import { engineVersion } from "./run.ts";

/** One request to start a run, as the gate judges it. Ids are made before, so that a statement can be sent again unchanged. */
export interface StartRow {
  readonly runId: string;
  readonly eventId: string;
  readonly door: "invoke" | "fire";
  /** SHA-256 of the credential, whatever kind it is. */
  readonly credentialHash: Buffer;
  /** A member who is signed in: the door has asked for the session and the role, and the hash is one that no credential has. */
  readonly member?: { readonly principal: string; readonly workspaceId: string } | undefined;
  /** The agent named in the path; fire has none. */
  readonly agentId: string | null;
  readonly key: string | null;
  /** SHA-256 of the raw body; null while the body is not read, or could not be. */
  readonly bodyHash: Buffer | null;
  readonly payload: string;
  readonly contentType: string | null;
  /**
   * What the door found wrong with the body: the gate gives it only when nothing before the body refuses. `unread`: the credential
   * alone is asked for; `unhashable`: there is no body hash, so an Idempotency-Key cannot be looked up.
   */
  readonly body: "good" | "bad" | "unhashable" | "unread";
  /** Whether this process would execute it now. */
  readonly room: boolean;
  /** The process that would. */
  readonly owner: string;
}

export type Refused =
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "idempotency_mismatch"
  | "agent_paused"
  | "trigger_disabled"
  | "empty"
  | "agent_busy"
  /** The door's own finding about the body comes next. */
  | "body";

export interface StartedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** Changes with every change of the agent's provider; null: it has none of the workspace's. */
  readonly providerStamp: string | null;
  readonly triggerId: string | null;
  readonly promptPrefix: string;
  readonly createdAt: Date;
  /** Born running and owned by the process that asked, else queued. */
  readonly running: boolean;
}

export type StartAnswer =
  | { readonly verdict: "started"; readonly run: StartedRun }
  /** An earlier run has the key: it is the answer. */
  | { readonly verdict: "replay"; readonly runId: string; readonly workspaceId: string; readonly agentId: string }
  /** Neither refused nor written: a request with the same key was written at the same moment. Ask again. */
  | { readonly verdict: "contended" }
  | { readonly verdict: Refused };

/**
 * The gate: judges every row against one snapshot, writes those that start, and gives each its own verdict, in one statement and
 * one commit. The order of the `case` is the order of refusals in the contract.
 *
 * - A run id that exists is `started` before anything else: the reply was lost and the statement sent again. The earlier send may even be
 *   under way still, unseen by this snapshot; then the insert waits for it, finds the row there, and the run is read by its id.
 * - `on conflict do nothing` on the key settles two requests with one key, in one batch or in two processes.
 * - Queued runs are counted only for agents that would get one more; batches in flight at other processes may overshoot.
 * - A run is born running only while the owner has not been declared dead.
 * - What the requests of one caller have in common is looked up once for all of them.
 * - Every look-up is a lateral subquery with a limit: whatever size the tables had when the statement was planned, it can only be a
 *   walk from row to index, never a join over a whole table.
 * - No `coalesce` in what a row is looked up by: row-level security takes it for a leak, and would have the index not used. `case` will do.
 * - Keys are bound in the order of (scope, key), so that two processes take the locks of equal keys in the same order.
 */
const text = `
with requests as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::text[], $10::text[], $11::boolean[], $12::text[], $13::text[], $14::text[])
    with ordinality as r (run_id, event_id, door, credential, agent, key, body_hash, payload, content_type, body, room, owner, member, workspace, position)
), callers as (
  select c.*, a.id as agent_id, a.workspace_id, a.version, a.max_queued_runs, a.max_concurrent_runs is null as unlimited, a.paused_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix, provider.stamp as provider_stamp,
    case when g.id is not null then 'trigger:' || g.id when t.hash is not null then 'token:' || a.id when c.member is not null then c.member
      else 'key:' || k.id end as principal,
    case
      when t.hash is null and k.id is null and c.member is null then 'unauthorized'
      when t.hash is not null and (a.id is null or (c.door = 'fire' and g.id is null)) then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as refusal
  from (select distinct door, credential, agent, member, workspace from requests) as c
  left join lateral (
    select * from tokens t where t.hash = c.credential and (t.expires_at is null or t.expires_at > now())
      and (t.trigger_id is not null) = (c.door = 'fire') and (c.door = 'fire' or t.agent_id = c.agent) limit 1
  ) t on true
  left join lateral (
    select * from key_secrets s where c.door = 'invoke' and s.hash = c.credential and (s.expires_at is null or s.expires_at > now()) limit 1
  ) s on true
  left join lateral (
    select * from keys k where k.id = s.key_id and k.workspace_id = s.workspace_id and (k.expires_at is null or k.expires_at > now()) limit 1
  ) k on true
  left join lateral (
    select * from agents a where a.id = case when t.hash is null then c.agent else t.agent_id end
      and a.workspace_id = case when t.hash is not null then t.workspace_id when c.member is not null then c.workspace else k.workspace_id end
      and a.deleted_at is null and (k.agent_ids is null or a.id = any (k.agent_ids)) limit 1
  ) a on true
  left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id and g.deleted_at is null limit 1
  ) g on true
  left join lateral (
    select extract(epoch from p.updated_at)::text as stamp from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = a.id and v.version = a.version limit 1
  ) provider on true
), judged as (
  select r.run_id, r.event_id, r.door, r.key, r.body_hash, r.payload, r.content_type, r.owner, r.position,
    c.agent_id, c.workspace_id, c.version, c.max_queued_runs, c.trigger_id, c.prompt_prefix, c.provider_stamp, c.principal,
    r.room and c.unlimited and r.owner in (select p.id from processes p where p.died_at is null) as running,
    old.run_id as replayed_run,
    case
      when written.run_id is not null then 'started'
      when c.refusal is not null then c.refusal
      when r.body = 'unread' then 'body'
      when r.key is not null and r.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.run_id is not null then 'idempotency_mismatch'
      when c.paused_at is not null then 'agent_paused'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when r.body <> 'good' then 'body'
      when run_input(c.prompt_prefix, r.payload) = '' then 'empty'
      else 'start'
    end as verdict
  from requests r
  join callers c on c.door = r.door and c.credential = r.credential and c.agent = r.agent
  left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id and i.scope = case when c.trigger_id is null then c.agent_id else c.trigger_id end
      and i.key = r.key limit 1
  ) old on true
  left join lateral (select e.run_id from events e where e.run_id = r.run_id and e.seq = 1) written on true
), waiting as (
  select w.agent_id, (select count(*) from (
      select from runs q where q.status = 'queued' and q.workspace_id = w.workspace_id and q.agent_id = w.agent_id limit w.max_queued_runs
    ) as counted) as runs
  from (select distinct workspace_id, agent_id, max_queued_runs from judged where verdict = 'start' and not running) as w
), final as (
  select j.*, case when j.verdict = 'start' and not j.running
      and w.runs + row_number() over (partition by j.agent_id, j.verdict, j.running order by j.position) > j.max_queued_runs
    then 'agent_busy' else j.verdict end as outcome
  from judged j left join waiting w on w.agent_id = j.agent_id
), bound as (
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, coalesce(trigger_id, agent_id), key, body_hash, run_id from final where outcome = 'start' and key is not null
  order by coalesce(trigger_id, agent_id), key, position
  on conflict do nothing
  returning run_id
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq, started_at)
  select run_id, workspace_id, agent_id, case when running then 'running' else 'queued' end, case when running then owner end,
    case when running then 1 else 0 end, 1, case when running then now() end
  from final where outcome = 'start' and (key is null or run_id in (select run_id from bound))
  on conflict do nothing
  returning id, created_at
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload, prompt_prefix, content_type, principal, engine_version)
  select f.run_id, f.workspace_id, f.version, case f.door when 'fire' then 'trigger' else f.door end, f.trigger_id, f.payload, f.prompt_prefix,
    f.content_type, f.principal, ${engineVersion}
  from final f join started s on s.id = f.run_id
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select f.run_id, 1, f.workspace_id, f.event_id, case when f.running then 'run.started' else 'run.queued' end, ${eventVersion}, '{}'
  from final f join started s on s.id = f.run_id
)
select case when f.outcome = 'start' then case when s.id is null then 'contended' else 'started' end else f.outcome end as verdict,
  coalesce(f.replayed_run, f.run_id) as run_id, f.workspace_id, f.agent_id, f.version, f.provider_stamp, f.trigger_id, f.prompt_prefix, s.created_at,
  s.id is not null and f.running as running
from final f left join started s on s.id = f.run_id
order by f.position`;

interface Answered {
  readonly verdict: "started" | "replay" | "contended" | Refused;
  readonly run_id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly version: number;
  readonly provider_stamp: string | null;
  readonly trigger_id: string | null;
  readonly prompt_prefix: string;
  readonly created_at: Date | null;
  readonly running: boolean;
}

/** Judges and writes `rows`, and answers each in order. */
export async function startRuns(database: Database, rows: readonly StartRow[]): Promise<StartAnswer[]> {
  const column = (pick: (row: StartRow) => string | boolean | Buffer | null) => arrayLiteral(rows.map(pick));
  const answer = await database.engine.query<Answered>({
    name: "start",
    text,
    values: [
      column((row) => row.runId),
      column((row) => row.eventId),
      column((row) => row.door),
      column((row) => row.credentialHash),
      column((row) => row.agentId ?? ""),
      column((row) => row.key),
      column((row) => row.bodyHash),
      column((row) => row.payload),
      column((row) => row.contentType),
      column((row) => row.body),
      column((row) => row.room),
      column((row) => row.owner),
      column((row) => row.member?.principal ?? null),
      column((row) => row.member?.workspaceId ?? null),
    ],
  });
  return Promise.all(answer.rows.map((row) => toAnswer(database, row)));
}

async function toAnswer(database: Database, row: Answered): Promise<StartAnswer> {
  switch (row.verdict) {
    case "started":
    case "contended": {
      const run = row.created_at === null ? await readStarted(database, row.run_id) : toStarted(row, row.created_at);
      if (run !== undefined) return { verdict: "started", run };
      if (row.verdict === "started") throw new Error(`run ${row.run_id} was written and is gone`);
      return { verdict: "contended" };
    }
    case "replay":
      return { verdict: "replay", runId: row.run_id, workspaceId: row.workspace_id, agentId: row.agent_id };
    default:
      return { verdict: row.verdict };
  }
}

function toStarted(row: Answered, createdAt: Date): StartedRun {
  return {
    runId: row.run_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentVersion: row.version,
    providerStamp: row.provider_stamp,
    triggerId: row.trigger_id,
    promptPrefix: row.prompt_prefix,
    createdAt,
    running: row.running,
  };
}

/** The run that an earlier send of the same row has written, as it was written: what has become of it since is not the verdict's matter. */
async function readStarted(database: Database, runId: string): Promise<StartedRun | undefined> {
  const { rows } = await database.engine.query<Omit<Answered, "verdict">>({
    name: "read-started",
    text: `select r.id as run_id, r.workspace_id, r.agent_id, i.agent_version as version,
        (select extract(epoch from p.updated_at)::text from agent_versions v join providers p on p.id = v.provider_id
          where v.agent_id = r.agent_id and v.version = i.agent_version) as provider_stamp, i.trigger_id, i.prompt_prefix, r.created_at,
        r.status = 'running' and r.fence = 1 and r.last_seq = 1 as running
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    values: [runId],
  });
  const row = rows[0];
  return row?.created_at == null ? undefined : toStarted({ ...row, verdict: "started" }, row.created_at);
}
