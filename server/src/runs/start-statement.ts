import { eventVersion } from "@beckon/contract";
import { booleanArray, bytesArray, type Database, intArray, isUniqueViolation, textArray } from "../base/database/index.ts";
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
 * - A run id that exists is `started` before anything else: the reply was lost and the statement sent again. It is looked for in a statement
 *   that is sent again, and no other.
 * - `on conflict do nothing` on the key settles two requests with one key, in one batch or in two processes.
 * - Queued runs are counted only for agents that would get one more; batches in flight at other processes may overshoot.
 * - A run is born running only while the owner has not been declared dead.
 * - What requests have in common is sent once for all of them, looked up once, and answered once. What none of them brings has no part in the
 *   statement: to make a part ready costs as much as several rows, used or not. In its place is a row of nothing, which the planner folds away.
 * - Every look-up is a lateral subquery with a limit: whatever size the tables had when the statement was planned, it can only be a
 *   walk from row to index, never a join over a whole table.
 * - No `coalesce` in what a row is looked up by: row-level security takes it for a leak, and would have the index not used. `case` will do.
 * - Keys are bound in the order of (scope, key), so that two processes take the locks of equal keys in the same order.
 */
function gate({ fired, keyed, repeated }: Brought): string {
  const trigger = fired
    ? `left join lateral (
    select * from triggers g where g.id = t.trigger_id and g.workspace_id = t.workspace_id and g.deleted_at is null limit 1
  ) g on true`
    : "cross join (select null::text as id, null::boolean as enabled, null::text as prompt_prefix) g";
  const old = keyed
    ? `left join lateral (
    select * from idempotency i where r.key is not null and i.workspace_id = c.workspace_id and i.scope = case when c.trigger_id is null then c.agent_id else c.trigger_id end
      and i.key = r.key limit 1
  ) old on true`
    : "cross join (select null::text as run_id, null::bytea as body_hash) old";
  const bound = keyed
    ? `bound as (
  insert into idempotency (workspace_id, scope, key, body_hash, run_id)
  select workspace_id, coalesce(trigger_id, agent_id), key, body_hash, run_id from judged
  where verdict = 'start' and key is not null and (running or run_id not in (select run_id from busy))
  order by coalesce(trigger_id, agent_id), key, position
  on conflict do nothing
  returning run_id
), `
    : "";
  const isBound = keyed ? "key is null or run_id in (select run_id from bound)" : "true";
  const written = repeated
    ? "left join lateral (select e.run_id from events e where e.run_id = r.run_id and e.seq = 1 limit 1) written on true"
    : "cross join (select null::text as run_id) written";
  return `
with callers as materialized (
  select c.*, a.id as agent_id, a.workspace_id, a.version, a.max_queued_runs, a.paused_at,
    g.id as trigger_id, g.enabled, coalesce(g.prompt_prefix, '') as prompt_prefix, provider.stamp as provider_stamp,
    born.running, case when not born.running and a.paused_at is null then (select count(*) from (
      select from runs q where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id limit a.max_queued_runs
    ) as counted) end as waiting,
    case when g.id is not null then 'trigger:' || g.id when t.hash is not null then 'token:' || a.id when c.member is not null then c.member
      else 'key:' || k.id end as principal,
    case
      when t.hash is null and k.id is null and c.member is null then 'unauthorized'
      when t.hash is not null and (a.id is null or (c.door = 'fire' and g.id is null)) then 'unauthorized'
      when k.id is not null and not 'agents:invoke' = any (k.scopes) then 'forbidden'
      when a.id is null then 'not_found'
    end as refusal
  from unnest($1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[], $9::text[])
    with ordinality as c (door, credential, agent, member, workspace, content_type, body, room, owner, caller)
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
  ${trigger}
  cross join lateral (
    select c.room and a.max_concurrent_runs is null and a.workspace_id <> all ($16::text[]) and c.owner in (select p.id from processes p where p.died_at is null) as running
  ) born
  left join lateral (
    select extract(epoch from p.updated_at)::text as stamp from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = a.id and v.version = a.version limit 1
  ) provider on true
), judged as (
  select r.*, c.door, c.content_type, c.owner, c.agent_id, c.workspace_id, c.version, c.max_queued_runs, c.waiting, c.trigger_id, c.prompt_prefix,
    c.principal, c.running, old.run_id as replayed_run,
    case
      when written.run_id is not null then 'started'
      when c.refusal is not null then c.refusal
      when c.body = 'unread' then 'body'
      when r.key is not null and c.body = 'unhashable' then 'body'
      when old.run_id is not null and old.body_hash = r.body_hash then 'replay'
      when old.run_id is not null then 'idempotency_mismatch'
      when c.paused_at is not null then 'agent_paused'
      when c.trigger_id is not null and not c.enabled then 'trigger_disabled'
      when c.body <> 'good' then 'body'
      when run_input(c.prompt_prefix, r.payload) = '' then 'empty'
      else 'start'
    end as verdict
  from unnest($10::text[], $11::text[], $12::int[], $13::text[], $14::bytea[], $15::text[])
    with ordinality as r (run_id, event_id, caller, key, body_hash, payload, position)
  join callers c on c.caller = r.caller
  ${old}
  ${written}
), busy as (
  select run_id from (
    select run_id, waiting + row_number() over (partition by agent_id order by position) > max_queued_runs as is_over
    from judged where verdict = 'start' and not running
  ) as queued where is_over
), ${bound}starting as not materialized (
  select * from judged
  where verdict = 'start' and (running or run_id not in (select run_id from busy)) and (${isBound})
), started as (
  insert into runs (id, workspace_id, agent_id, status, owner, fence, last_seq, started_at)
  select run_id, workspace_id, agent_id, case when running then 'running' else 'queued' end, case when running then owner end,
    case when running then 1 else 0 end, 1, case when running then now() end
  from starting
), inputs as (
  insert into run_inputs (run_id, workspace_id, agent_version, source, trigger_id, payload, prompt_prefix, content_type, principal, engine_version)
  select run_id, workspace_id, version, case door when 'fire' then 'trigger' else door end, trigger_id, payload, prompt_prefix, content_type,
    principal, ${engineVersion}
  from starting
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select run_id, 1, workspace_id, event_id, case when running then 'run.started' else 'run.queued' end, ${eventVersion}, '{}'
  from starting
)
select (select json_agg(json_build_array(position, case
    when verdict <> 'start' then verdict
    when not running and run_id in (select run_id from busy) then 'agent_busy'
    when not (${isBound}) then 'contended'
    else 'start'
  end, replayed_run)) from judged) as verdicts,
  (select json_agg(json_build_object('caller', caller, 'workspace_id', workspace_id, 'agent_id', agent_id, 'version', version,
    'provider_stamp', provider_stamp, 'trigger_id', trigger_id, 'prompt_prefix', prompt_prefix, 'running', running)) from callers) as callers`;
}

/** What at least one request of a batch brings. */
interface Brought {
  readonly fired: boolean;
  readonly keyed: boolean;
  /** It may have been written by an earlier send. */
  readonly repeated: boolean;
}

/** Made once, since a statement is sent by its name alone when the connection knows the same text by it. */
const gates = new Map<string, string>();

function gateFor(brought: Brought): { name: string; text: string } {
  const { fired, keyed, repeated } = brought;
  const name = `start${fired ? ":fired" : ""}${keyed ? ":keyed" : ""}${repeated ? ":repeated" : ""}`;
  const text = gates.get(name) ?? gate(brought);
  gates.set(name, text);
  return { name, text };
}

/** What the gate answers: of each request its verdict, and what it knows of those who ask. */
interface Judgement {
  readonly verdicts: readonly Verdict[];
  readonly callers: readonly (Known & { readonly caller: number })[];
}

/** Place of the request in the batch, counted from 1; `start`: it was written now; `started`: it had been before. */
type Verdict =
  | readonly [position: number, verdict: "replay", replayedRun: string]
  | readonly [position: number, verdict: "start" | "started" | "contended" | Refused, replayedRun: null];

/** Of a caller whom no credential admits, nothing. */
interface Known {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly version: number;
  readonly provider_stamp: string | null;
  readonly trigger_id: string | null;
  readonly prompt_prefix: string;
  readonly running: boolean;
}

interface StartOptions {
  /**
   * false: no earlier send of any of the rows can have come to the database, which is then not
   * asked for one. Default true.
   */
  readonly repeated?: boolean;
  /** Workspaces whose runs wait for memory in this process: their new ones are queued. */
  readonly full?: readonly string[];
}

/** Judges and writes `rows`, and answers each in order. */
export async function startRuns(
  database: Database,
  rows: readonly StartRow[],
  { repeated = true, full = [] }: StartOptions = {},
): Promise<StartAnswer[]> {
  const { callers, callerOf } = callersOf(rows);
  const judgement = await judge(database, rows, { callers, callerOf, repeated, full });
  if (judgement.verdicts.length !== rows.length) throw new Error("the gate left a request without a verdict");
  const known = new Map(judgement.callers.map((caller) => [caller.caller, caller]));
  const answers = new Array<StartAnswer | Promise<StartAnswer>>(rows.length);
  for (const verdict of judgement.verdicts) {
    const index = verdict[0] - 1;
    const [row, caller] = [rows[index], known.get(callerOf[index] ?? 0)];
    if (row === undefined || caller === undefined) throw new Error("the gate answered for nobody who asked");
    answers[index] = toAnswer(database, row, verdict, caller);
  }
  return Promise.all(answers);
}

/** The requests that tell callers apart, and which of them each row has its caller in, counted from 1. */
function callersOf(rows: readonly StartRow[]): { callers: StartRow[]; callerOf: number[] } {
  const callers: StartRow[] = [];
  const known = new Map<string, number>();
  const callerOf = rows.map((row) => {
    const { door, agentId, body, room, owner, member, credentialHash, contentType } = row;
    const key = `${door} ${agentId} ${body} ${room} ${owner} ${member?.workspaceId} ${credentialHash.toString("latin1")} ${member?.principal} ${contentType}`;
    const caller = known.get(key) ?? callers.push(row);
    known.set(key, caller);
    return caller;
  });
  return { callers, callerOf };
}

async function judge(
  database: Database,
  rows: readonly StartRow[],
  { callers, callerOf, repeated, full }: Required<StartOptions> & ReturnType<typeof callersOf>,
): Promise<Judgement> {
  const send = async (again: boolean) => {
    const answer = await database.engine.query<Judgement>({
      ...gateFor({
        fired: callers.some((row) => row.door === "fire"),
        keyed: rows.some((row) => row.key !== null),
        repeated: again,
      }),
      values: [
        textArray(callers.map((row) => row.door)),
        bytesArray(callers.map((row) => row.credentialHash)),
        textArray(callers.map((row) => row.agentId)),
        textArray(callers.map((row) => row.member?.principal ?? null)),
        textArray(callers.map((row) => row.member?.workspaceId ?? null)),
        textArray(callers.map((row) => row.contentType)),
        textArray(callers.map((row) => row.body)),
        booleanArray(callers.map((row) => row.room)),
        textArray(callers.map((row) => row.owner)),
        textArray(rows.map((row) => row.runId)),
        textArray(rows.map((row) => row.eventId)),
        intArray(callerOf),
        textArray(rows.map((row) => row.key)),
        bytesArray(rows.map((row) => row.bodyHash)),
        textArray(rows.map((row) => row.payload)),
        textArray(full),
      ],
    });
    if (answer.rows[0] === undefined) throw new Error("the gate gave no answer");
    return answer.rows[0];
  };
  try {
    return await send(repeated);
  } catch (thrown) {
    if (!isUniqueViolation(thrown)) throw thrown;
    // An earlier send was under way, unseen by this one's snapshot, and has been committed while this one waited for it.
    return await send(true);
  }
}

function toAnswer(
  database: Database,
  { runId }: StartRow,
  [, verdict, replayedRun]: Verdict,
  known: Known,
): StartAnswer | Promise<StartAnswer> {
  switch (verdict) {
    case "start":
      return { verdict: "started", run: toStarted(runId, known) };
    case "started":
    case "contended":
      return writtenBefore(database, runId, verdict);
    case "replay":
      return { verdict, runId: replayedRun, workspaceId: known.workspace_id, agentId: known.agent_id };
    default:
      return { verdict };
  }
}

/** A key that another run has may have been bound by an earlier send of this very row. */
async function writtenBefore(database: Database, runId: string, verdict: "started" | "contended"): Promise<StartAnswer> {
  const run = await readStarted(database, runId);
  if (run !== undefined) return { verdict: "started", run };
  if (verdict === "started") throw new Error(`run ${runId} was written and is gone`);
  return { verdict };
}

function toStarted(runId: string, known: Known): StartedRun {
  return {
    runId,
    workspaceId: known.workspace_id,
    agentId: known.agent_id,
    agentVersion: known.version,
    providerStamp: known.provider_stamp,
    triggerId: known.trigger_id,
    promptPrefix: known.prompt_prefix,
    running: known.running,
  };
}

/** The run that an earlier send of the same row has written, as it was written: what has become of it since is not the verdict's matter. */
async function readStarted(database: Database, runId: string): Promise<StartedRun | undefined> {
  const { rows } = await database.engine.query<Known>({
    name: "read-started",
    text: `select r.workspace_id, r.agent_id, i.agent_version as version,
        (select extract(epoch from p.updated_at)::text from agent_versions v join providers p on p.id = v.provider_id
          where v.agent_id = r.agent_id and v.version = i.agent_version) as provider_stamp, i.trigger_id, i.prompt_prefix,
        r.status = 'running' and r.fence = 1 and r.last_seq = 1 as running
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    values: [runId],
  });
  const row = rows[0];
  return row && toStarted(runId, row);
}
