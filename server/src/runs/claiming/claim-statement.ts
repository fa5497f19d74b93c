import { maxAttemptsLimit } from "@beckon/contract";
import {
  type Database,
  type Parameters,
  type Statement,
  statement,
} from "../../base/database/index.ts";
import { engineVersion } from "../../base/engine-version.ts";
import { insertEvents } from "../../events/index.ts";
import { addEvents } from "../journal/index.ts";
import type { LastAttempt } from "../subscribing/index.ts";

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
  /**
   * Milliseconds since its first start without those spent waiting for a failover, by the
   * database's clock.
   */
  readonly elapsedMs: number;
  /** Set if it may be given to no other process after this one. */
  readonly lastAttempt?: LastAttempt;
  /** undefined: it is large, and read when the run has the memory for it. */
  readonly input: string | undefined;
  /** Of the whole input, in UTF-8. */
  readonly inputBytes: number;
}

/** What a claim got. */
export interface Taken {
  readonly runs: readonly ClaimedRun[];
  /** Another process was at the same runs at this moment: less was got than there was, so look again. */
  readonly contended: boolean;
}

/**
 * Which queued runs come next, oldest first within an agent, and in turns: agents of a workspace alternate, and so do
 * workspaces, so that a flood in one delays nobody else. Whose turn is first is drawn anew each time: there may be room for one run only, and
 * by age it would always go to the flood. The first part walks from agent to agent along the index, whatever the queue's length.
 * Runs of agents with a concurrency limit are left to `claimLimited`, which counts under a lock.
 */
const candidates = (limit: string, except: string) => `
with recursive waiting (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'queued' order by workspace_id, agent_id limit 1)
  union all
  select following.* from waiting w, lateral (
    select workspace_id, agent_id from runs
    where status = 'queued' and (workspace_id, agent_id) > (w.workspace_id, w.agent_id) order by workspace_id, agent_id limit 1
  ) as following
), free as (
  select w.* from waiting w, lateral (
    select from agents a where a.id = w.agent_id and a.workspace_id = w.workspace_id and a.max_concurrent_runs is null
      and a.workspace_id <> all (${except}) limit 1
  ) as a
), oldest as (
  select q.id, f.workspace_id, row_number() over (partition by f.workspace_id, f.agent_id order by q.id) as agent_turn
  from free f, lateral (
    select r.id from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = f.workspace_id and r.agent_id = f.agent_id and i.engine_version <= ${engineVersion}
    order by r.id limit ${limit}
  ) as q
), turns as (
  select id, row_number() over (partition by workspace_id order by agent_turn, random()) as turn from oldest order by turn, random() limit ${limit}
), picked as (
  select r.id from runs r where r.id in (select id from turns) and r.status = 'queued' for no key update skip locked
)`;

/**
 * Bytes of an input that comes with the claim. Larger ones would make a batch of claims as large as
 * it likes.
 */
const smallInputBytes = 64 * 1024;

/** In UTF-8, with the blank line between prefix and payload. */
const inputSize =
  "cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input";

/** What the executor needs to know of a run `t` with its inputs `i` and their `inputSize`. */
const columns = `t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq, t.fence > 1 as resumed,
  t.cancel_requested_at is not null as cancel_requested, extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes, case when input.bytes <= ${smallInputBytes} then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp`;

/**
 * A failover also sets the picked attempt and adds the wait. It locks the claimant's row, so that a
 * death is recorded before the claim or after its commit: runs that appear after the count of
 * suspects could be found guilty.
 */
const failover = {
  set: "attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,",
  lock: "for share",
};

/** Data of `run.resumed` by attempt: what a claim's events say is built here, not in SQL. */
const resumed = Array.from({ length: maxAttemptsLimit }, (_, index) =>
  JSON.stringify({ attempt: index + 1 }),
);

/** Who claims, and the ids of the events that say so: as many as runs are taken at most. They identify a claim whose reply was lost. */
export interface Claimant {
  readonly owner: string;
  readonly eventIds: readonly string[];
  /** Workspaces whose runs wait for memory in this process: it takes no more of them. */
  readonly except?: readonly string[];
}

interface Claiming<Input extends Claimant> {
  /** Common table expressions that end in `picked (id)`; a failover's also has `attempt` and `waited_ms`. */
  readonly picked: (p: Parameters<Input>, limit: string) => string;
  /** The one among them that holds what would be picked if no other process were at it. */
  readonly wanted: "turns" | "picked";
  /** Whether the runs are taken from a dead process, not from the queue. */
  readonly failover: boolean;
}

/** Takes what was picked: the claim, its event, and all that the executor needs. */
export function claimStatement<Input extends Claimant = Claimant>(
  name: string,
  claiming: Claiming<Input>,
): Statement<Input> {
  return statement<Input>(name, (p) => {
    const owner = p.value("text", (input) => input.owner);
    const limit = p.value("bigint", ({ eventIds }) => eventIds.length);
    const eventIds = p.value("text[]", (input) => input.eventIds);
    const resumedData = p.value("jsonb[]", () => resumed);
    const { set, lock } = claiming.failover ? failover : { set: "", lock: "" };
    return `${claiming.picked(p, limit)}, numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = ${owner}, fence = r.fence + 1, ${set}
    started_at = coalesce(r.started_at, now()), ${addEvents("1")}
  from numbered p where r.id = p.id and exists (select from processes where id = ${owner} and died_at is null ${lock})
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt, r.started_at, r.waited_ms,
    r.cancel_requested_at, p.n
), claim_events as (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction, (${eventIds})[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then (${resumedData})[attempt] else '{}' end as data
  from taken
), ${insertEvents("claim_events")}
select (select count(*) from ${claiming.wanted}) > (select count(*) from picked) as contended, ${columns}
from (values (1)) as always left join (taken t join run_inputs i on i.run_id = t.id ${inputSize}) on true order by t.id`;
  });
}

interface ClaimedRow {
  /** null: none was taken. */
  readonly run_id: string | null;
  readonly contended: boolean;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly agent_version: number;
  readonly provider_stamp: string | null;
  readonly fence: number;
  readonly last_seq: number;
  readonly resumed: boolean;
  readonly cancel_requested: boolean;
  readonly elapsed_ms: string;
  readonly input: string | null;
  readonly input_bytes: number;
}

/** Makes the claimant the owner of the runs that the statement picks and locks. */
export async function claim<Input extends Claimant>(
  database: Pick<Database["engine"], "query">,
  claiming: Statement<Input>,
  input: Input,
): Promise<Taken> {
  const { rows } = await database.query<ClaimedRow>(claiming.query(input));
  return { runs: rows.flatMap(toClaimed), contended: rows[0]?.contended ?? false };
}

/** What claims of this process that had no answer have taken after all: it owns these runs, and nothing has been done for them yet. */
export async function findClaimed(
  database: Database,
  { owner, eventIds }: Pick<Claimant, "owner" | "eventIds">,
): Promise<ClaimedRun[]> {
  const { rows } = await database.engine.query<ClaimedRow>({
    name: "find-claimed",
    text: `select ${columns} from runs t join run_inputs i on i.run_id = t.id ${inputSize}
      where t.status = 'running' and t.owner = $1
        and exists (select from events e where e.run_id = t.id and e.seq = t.last_seq and e.id = any ($2))`,
    values: [owner, eventIds],
  });
  return rows.flatMap(toClaimed);
}

/** The workspaces that a claimant takes no more runs of. */
export const exceptOf = (p: Parameters<Claimant>) => p.value("text[]", ({ except = [] }) => except);

const queued = claimStatement("claim", {
  picked: (p, limit) => candidates(limit, exceptOf(p)),
  wanted: "turns",
  failover: false,
});

/** Claims queued runs of agents without a concurrency limit. Safe beside any number of other processes. */
export function claimQueued(database: Database, claimant: Claimant): Promise<Taken> {
  return claim(database.engine, queued, claimant);
}

/**
 * Claims queued runs of agents that limit how many execute at once. One agent at a time: its row is locked, and the next statement,
 * in the same transaction, counts and claims. (One statement would count on a snapshot from before the lock was had; a plain
 * `for update` would block the foreign-key checks of starts.) In turns, workspace by workspace, and each agent gets its share of the room;
 * what the others leave of theirs is shared out again.
 */
export async function claimLimited(
  database: Database,
  { owner, eventIds, except = [] }: Claimant,
): Promise<Taken> {
  const { rows: agents } = await database.engine.query<LimitedAgent>({
    name: "claim-limited-agents",
    text: `select a.id, a.workspace_id
      from agents a, lateral (select from runs q where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id limit 1) as q
      where a.max_concurrent_runs is not null and a.workspace_id <> all ($1::text[])
        and (select count(*) from runs e where e.status = 'running' and e.agent_id = a.id) < a.max_concurrent_runs
      order by row_number() over (partition by a.workspace_id order by random()), random()`,
    values: [except],
  });
  const runs: ClaimedRun[] = [];
  let contended = false;
  for (let asking = agents; asking.length > 0; ) {
    const wantMore: LimitedAgent[] = [];
    for (const [index, agent] of asking.entries()) {
      const share = Math.ceil((eventIds.length - runs.length) / (asking.length - index));
      if (share === 0) break;
      const taken = await claimOfAgent(
        database,
        { owner, eventIds: eventIds.slice(runs.length, runs.length + share), except },
        agent,
      );
      runs.push(...taken.runs);
      contended ||= taken.contended;
      if (taken.runs.length === share) wantMore.push(agent);
    }
    asking = wantMore;
  }
  return { runs, contended };
}

interface LimitedAgent {
  readonly id: string;
  readonly workspace_id: string;
}

interface LimitedClaim extends Claimant {
  readonly agent: LimitedAgent;
  /** Runs of the agent that can execute at once. */
  readonly max: number;
}

/** The agent's oldest queued runs, as many as can still execute at once. */
const ofAgent = claimStatement<LimitedClaim>("claim-limited", {
  wanted: "picked",
  failover: false,
  picked(p, limit) {
    const workspaceId = p.value("text", ({ agent }) => agent.workspace_id);
    const agentId = p.value("text", ({ agent }) => agent.id);
    const max = p.value("bigint", (input) => input.max);
    return `
with picked as (
  select r.id from runs r join run_inputs i on i.run_id = r.id
  where r.status = 'queued' and r.workspace_id = ${workspaceId} and r.agent_id = ${agentId} and i.engine_version <= ${engineVersion}
  order by r.id
  limit least(${limit}, greatest(0, ${max} - (select count(*) from runs e where e.status = 'running' and e.agent_id = ${agentId})))
  for no key update of r skip locked
)`;
  },
});

async function claimOfAgent(
  database: Database,
  claimant: Claimant,
  agent: LimitedAgent,
): Promise<Taken> {
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
    const claimed: Taken =
      max === undefined
        ? { runs: [], contended: true }
        : await claim(client, ofAgent, { ...claimant, agent, max });
    await client.query("commit");
    client.release();
    return claimed;
  } catch (thrown) {
    // Closing the connection rolls back, and leaves no half transaction in the pool whatever state it is in.
    client.release(true);
    throw thrown;
  }
}

function toClaimed(row: ClaimedRow): ClaimedRun[] {
  if (row.run_id === null) return [];
  const claimed: ClaimedRun = {
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
    input: row.input ?? undefined,
    inputBytes: row.input_bytes,
  };
  return [claimed];
}

/** For review. */
export const claimStatements = [queued, ofAgent];
