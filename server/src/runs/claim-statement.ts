import { eventVersion } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { engineVersion } from "./run.ts";

/** A run this process has just become the owner of. */
export interface ClaimedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** As in `StartedRun`. */
  readonly providerStamp: string | null;
  readonly fence: number;
  readonly lastSeq: number;
  /** Whether another process may have executed some of it. */
  readonly resumed: boolean;
  /** Somebody has asked to cancel it, and whoever had it did not come to it. */
  readonly cancelRequested: boolean;
  /** Milliseconds since its first start, by the database's clock. */
  readonly elapsedMs: number;
  readonly input: string;
}

/**
 * Which queued runs come next, oldest first within an agent, and in turns: agents of a workspace alternate, and so do
 * workspaces, so that a flood in one delays nobody else. The first part walks from agent to agent along the index, whatever the queue's length.
 * Runs of agents with a concurrency limit are left to `claimLimited`, which counts under a lock.
 */
const candidates = `
with recursive waiting (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'queued' order by workspace_id, agent_id limit 1)
  union all
  select following.* from waiting w, lateral (
    select workspace_id, agent_id from runs
    where status = 'queued' and (workspace_id, agent_id) > (w.workspace_id, w.agent_id) order by workspace_id, agent_id limit 1
  ) as following
), free as (
  select w.* from waiting w join agents a on a.id = w.agent_id and a.workspace_id = w.workspace_id where a.max_concurrent_runs is null
), oldest as (
  select q.id, f.workspace_id, row_number() over (partition by f.workspace_id, f.agent_id order by q.id) as agent_turn
  from free f, lateral (
    select r.id from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = f.workspace_id and r.agent_id = f.agent_id and i.engine_version <= ${engineVersion}
    order by r.id limit $2
  ) as q
), turns as (
  select id, row_number() over (partition by workspace_id order by agent_turn, id) as turn from oldest order by turn, id limit $2
), picked as (
  select r.id from runs r where r.id in (select id from turns) and r.status = 'queued' for no key update skip locked
)`;

/** Takes what was picked: the claim, its journal entry, and all the executor needs. `$1` is the owner, `$3` are event ids. */
const take = (attempts: 0 | 1) => `
, numbered as (
  select id, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = $1, fence = r.fence + 1, last_seq = r.last_seq + 1, attempt = r.attempt + ${attempts},
    started_at = coalesce(r.started_at, now())
  from numbered p where r.id = p.id and exists (select from processes where id = $1 and died_at is null)
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.attempt, r.started_at, r.cancel_requested_at, p.n, r.fence > 1 as resumed
), journal as (
  insert into events (run_id, seq, workspace_id, id, type, version, data)
  select id, last_seq, workspace_id, ($3::text[])[n], case when resumed then 'run.resumed' else 'run.started' end, ${eventVersion},
    case when resumed then jsonb_build_object('attempt', attempt) else '{}' end
  from taken
)
select t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq, t.resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 as elapsed_ms, run_input(i.prompt_prefix, i.payload) as input,
  (select extract(epoch from p.updated_at)::text from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp
from taken t join run_inputs i on i.run_id = t.id order by t.id`;

interface ClaimedRow {
  readonly run_id: string;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly agent_version: number;
  readonly provider_stamp: string | null;
  readonly fence: number;
  readonly last_seq: number;
  readonly resumed: boolean;
  readonly cancel_requested: boolean;
  readonly elapsed_ms: string;
  readonly input: string;
}

interface Taking {
  /** Of the prepared statement. */
  readonly name: string;
  /** Common table expressions that end in `picked (id)`; `$2` is the limit, `$4` and on are `more`. */
  readonly picked: string;
  /** 1: each costs the run an attempt. */
  readonly attempts: 0 | 1;
  readonly owner: string;
  readonly limit: number;
  readonly more: readonly unknown[];
}

/** Makes `owner` the owner of the runs that `picked` selects and locks. */
export async function takePicked(database: Pick<Database["engine"], "query">, taking: Taking): Promise<ClaimedRun[]> {
  const { rows } = await database.query<ClaimedRow>({
    name: taking.name,
    text: taking.picked + take(taking.attempts),
    values: [taking.owner, taking.limit, Array.from({ length: taking.limit }, () => newId("evt")), ...taking.more],
  });
  return rows.map(toClaimed);
}

/** Claims up to `limit` queued runs of agents without a concurrency limit. Safe beside any number of other processes. */
export function claimQueued(database: Database, owner: string, limit: number): Promise<ClaimedRun[]> {
  return takePicked(database.engine, { name: "claim", picked: candidates, attempts: 0, owner, limit, more: [] });
}

/**
 * Claims queued runs of agents that limit how many execute at once. One agent at a time: its row is locked, and the next statement,
 * in the same transaction, counts and claims. (One statement would count on a snapshot from before the lock was had; a plain
 * `for update` would block the foreign-key checks of starts.)
 */
export async function claimLimited(database: Database, owner: string, limit: number): Promise<ClaimedRun[]> {
  const { rows: agents } = await database.engine.query<{ id: string; workspace_id: string }>({
    name: "claim-limited-agents",
    text: `select a.id, a.workspace_id from agents a
      where a.max_concurrent_runs is not null
        and exists (select from runs q where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id)
      order by random()`,
    values: [],
  });
  const claimed: ClaimedRun[] = [];
  for (const agent of agents) {
    if (claimed.length >= limit) break;
    claimed.push(...(await claimOfAgent(database, owner, agent, limit - claimed.length)));
  }
  return claimed;
}

/** The agent's oldest queued runs, as many as it may still execute at once. */
const ofAgent = `
with picked as (
  select r.id from runs r join run_inputs i on i.run_id = r.id
  where r.status = 'queued' and r.workspace_id = $4 and r.agent_id = $5 and i.engine_version <= ${engineVersion}
  order by r.id
  limit least($2::bigint, greatest(0, $6::bigint - (select count(*) from runs e where e.status = 'running' and e.agent_id = $5)))
  for no key update of r skip locked
)`;

async function claimOfAgent(
  database: Database,
  owner: string,
  agent: { id: string; workspace_id: string },
  limit: number,
): Promise<ClaimedRun[]> {
  const client = await database.engine.connect();
  try {
    await client.query("begin");
    const locked = await client.query<{ max: number }>({
      name: "claim-limited-lock",
      text: `select max_concurrent_runs as max from agents
        where id = $1 and workspace_id = $2 and max_concurrent_runs is not null for no key update skip locked`,
      values: [agent.id, agent.workspace_id],
    });
    const max = locked.rows[0]?.max;
    const claimed =
      max === undefined
        ? []
        : await takePicked(client, {
            name: "claim-limited",
            picked: ofAgent,
            attempts: 0,
            owner,
            limit,
            more: [agent.workspace_id, agent.id, max],
          });
    await client.query("commit");
    client.release();
    return claimed;
  } catch (thrown) {
    // Closing the connection rolls back, and leaves no half transaction in the pool whatever state it is in.
    client.release(true);
    throw thrown;
  }
}

function toClaimed(row: ClaimedRow): ClaimedRun {
  return {
    runId: row.run_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    providerStamp: row.provider_stamp,
    fence: row.fence,
    lastSeq: row.last_seq,
    resumed: row.resumed,
    cancelRequested: row.cancel_requested,
    elapsedMs: Number(row.elapsed_ms),
    input: row.input,
  };
}
