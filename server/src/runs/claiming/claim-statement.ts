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

/** A run that this process has just claimed. */
export interface ClaimedRun {
  readonly runId: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  /** As in `StartedRun`. */
  readonly providerStamp: string | null;
  readonly fence: number;
  readonly lastSeq: number;
  /** Whether another process may have executed a part of it. */
  readonly resumed: boolean;
  /** Whether its cancellation was requested and its former owner has not ended it. */
  readonly cancelRequested: boolean;
  /**
   * Time since its first start without the time spent waiting for a failover, by the database's
   * clock.
   */
  readonly elapsedMs: number;
  /** Set if this is the run's last attempt. */
  readonly lastAttempt?: LastAttempt;
  /** undefined: the input is large, and is read once memory is reserved for it. */
  readonly input: string | undefined;
  /** Bytes of the whole input in UTF-8. */
  readonly inputBytes: number;
}

/** The result of a claim. */
export interface ClaimResult {
  readonly runs: readonly ClaimedRun[];
  /** Whether another process had locked some of the runs, so that another claim may find more. */
  readonly contended: boolean;
}

/**
 * Selects the queued runs to claim next: oldest first within an agent, and round robin between the
 * agents of a workspace and between workspaces, so that a flood in one does not delay the others.
 * The order of the turns is random: a process with capacity for one run would otherwise always take
 * the oldest, a run of the flood.
 *
 * The recursive part is a loose index scan: it reads one row for each agent with queued runs,
 * however long the queue is. Agents with a concurrency limit are left to `claimLimited`.
 */
const candidates = (limit: string, except: string) => `
with recursive waiting (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'queued'
    order by workspace_id, agent_id limit 1)
  union all
  select following.* from waiting w, lateral (
    select workspace_id, agent_id from runs
    where status = 'queued' and (workspace_id, agent_id) > (w.workspace_id, w.agent_id)
    order by workspace_id, agent_id limit 1
  ) as following
), free as (
  select w.* from waiting w, lateral (
    select from agents a where a.id = w.agent_id and a.workspace_id = w.workspace_id
      and a.max_concurrent_runs is null and a.workspace_id <> all (${except}) limit 1
  ) as a
), oldest as (
  select q.id, f.workspace_id,
    row_number() over (partition by f.workspace_id, f.agent_id order by q.id) as agent_turn
  from free f, lateral (
    select r.id from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = f.workspace_id and r.agent_id = f.agent_id
      and i.engine_version <= ${engineVersion}
    order by r.id limit ${limit}
  ) as q
), turns as (
  select id, row_number() over (partition by workspace_id order by agent_turn, random()) as turn
  from oldest order by turn, random() limit ${limit}
), picked as (
  select r.id from runs r where r.id in (select id from turns) and r.status = 'queued'
  for no key update skip locked
)`;

/** Larger inputs are not returned by the claim, so that its result has a bounded size. */
const maxReturnedInputBytes = 64 * 1024;

/** Bytes of the input in UTF-8, with the blank line between prefix and payload. */
const inputSize =
  "cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input";

/** The columns that execution needs, of a run `t` with its inputs `i` and their `inputSize`. */
const columns = `t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from now() - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= ${maxReturnedInputBytes} then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp`;

/**
 * A failover also sets the attempt and adds the time since the death to `waited_ms`. It locks the
 * claimant's row in `processes`, so that the claimant is declared dead either before the claim or
 * after its commit: the count of suspects must include every run that the claimant took.
 */
const failover = {
  set: "attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,",
  lock: "for share",
};

/** Data of `run.resumed` for each attempt. */
const resumed = Array.from({ length: maxAttemptsLimit }, (_, index) =>
  JSON.stringify({ attempt: index + 1 }),
);

/** The process that claims runs, and the limits of the claim. */
export interface Claimant {
  readonly owner: string;
  /**
   * Ids for the events of the claim; their number is the maximum of runs to claim. They identify
   * the claim if its reply is lost.
   */
  readonly eventIds: readonly string[];
  /** Workspaces whose runs wait for memory in this process: it claims no more of them. */
  readonly except?: readonly string[];
}

interface Claiming<Input extends Claimant> {
  /**
   * Returns common table expressions that end in `picked (id)`, for a failover with `attempt` and
   * `waited_ms`.
   */
  readonly picked: (p: Parameters<Input>, limit: string) => string;
  /** The expression with the runs that would be picked if no other process had locked any. */
  readonly wanted: "turns" | "picked";
  /** Whether the runs are taken over from dead processes; else they come from the queue. */
  readonly failover: boolean;
}

/**
 * Creates a statement that claims the picked runs: it updates their rows, writes their events and
 * returns the columns that execution needs.
 */
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
  from numbered p where r.id = p.id
    and exists (select from processes where id = ${owner} and died_at is null ${lock})
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    (${eventIds})[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then (${resumedData})[attempt] else '{}' end as data
  from taken
), ${insertEvents("claim_events")}
select (select count(*) from ${claiming.wanted}) > (select count(*) from picked) as contended,
  ${columns}
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id ${inputSize}) on true order by t.id`;
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

/** Executes a statement of `claimStatement`. */
export async function claim<Input extends Claimant>(
  database: Pick<Database["engine"], "query">,
  claiming: Statement<Input>,
  input: Input,
): Promise<ClaimResult> {
  const { rows } = await database.query<ClaimedRow>(claiming.query(input));
  return { runs: rows.flatMap(toClaimed), contended: rows[0]?.contended ?? false };
}

/**
 * Returns the runs that a claim without a reply took, and that have not been executed since: the
 * event of the claim is still the last of their journal.
 */
export async function findClaimed(
  database: Database,
  { owner, eventIds }: Pick<Claimant, "owner" | "eventIds">,
): Promise<ClaimedRun[]> {
  const { rows } = await database.engine.query<ClaimedRow>({
    name: "find-claimed",
    text: `select ${columns} from runs t join run_inputs i on i.run_id = t.id ${inputSize}
      where t.status = 'running' and t.owner = $1
        and exists (
          select from events e where e.run_id = t.id and e.seq = t.last_seq and e.id = any ($2))`,
    values: [owner, eventIds],
  });
  return rows.flatMap(toClaimed);
}

/** Returns the parameter with the workspaces from which the claimant claims no more runs. */
export const exceptOf = (p: Parameters<Claimant>) => p.value("text[]", ({ except = [] }) => except);

const queued = claimStatement("claim", {
  picked: (p, limit) => candidates(limit, exceptOf(p)),
  wanted: "turns",
  failover: false,
});

/**
 * Claims queued runs of agents without a concurrency limit. Any number of processes can call it.
 */
export function claimQueued(database: Database, claimant: Claimant): Promise<ClaimResult> {
  return claim(database.engine, queued, claimant);
}

/**
 * Claims queued runs of agents with a concurrency limit, one agent at a time: its row is locked,
 * and the next statement in the same transaction counts and claims. A single statement would count
 * on a snapshot from before the lock; `for update` would block the foreign-key checks of starts.
 * Agents get equal shares of the capacity, in random order; what some leave is shared again by the
 * others.
 */
export async function claimLimited(
  database: Database,
  { owner, eventIds, except = [] }: Claimant,
): Promise<ClaimResult> {
  const { rows: agents } = await database.engine.query<LimitedAgent>({
    name: "claim-limited-agents",
    text: `select a.id, a.workspace_id
      from agents a, lateral (
        select from runs q
        where q.status = 'queued' and q.workspace_id = a.workspace_id and q.agent_id = a.id limit 1
      ) as q
      where a.max_concurrent_runs is not null and a.workspace_id <> all ($1::text[])
        and (select count(*) from runs e where e.status = 'running' and e.agent_id = a.id)
          < a.max_concurrent_runs
      order by row_number() over (partition by a.workspace_id order by random()), random()`,
    values: [except],
  });
  const runs: ClaimedRun[] = [];
  let contended = false;
  for (let remaining = agents; remaining.length > 0; ) {
    const wantMore: LimitedAgent[] = [];
    for (const [index, agent] of remaining.entries()) {
      const share = Math.ceil((eventIds.length - runs.length) / (remaining.length - index));
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
    remaining = wantMore;
  }
  return { runs, contended };
}

interface LimitedAgent {
  readonly id: string;
  readonly workspace_id: string;
}

interface LimitedClaim extends Claimant {
  readonly agent: LimitedAgent;
  /** The agent's concurrency limit. */
  readonly max: number;
}

/** Claims the agent's oldest queued runs, up to its concurrency limit. */
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
  where r.status = 'queued' and r.workspace_id = ${workspaceId} and r.agent_id = ${agentId}
    and i.engine_version <= ${engineVersion}
  order by r.id
  limit least(${limit}, greatest(0, ${max} - (
    select count(*) from runs e where e.status = 'running' and e.agent_id = ${agentId})))
  for no key update of r skip locked
)`;
  },
});

async function claimOfAgent(
  database: Database,
  claimant: Claimant,
  agent: LimitedAgent,
): Promise<ClaimResult> {
  const client = await database.engine.connect();
  try {
    await client.query("begin");
    const locked = await client.query<{ max: number }>({
      name: "claim-limited-lock",
      text: `select max_concurrent_runs as max from agents
        where id = $1 and workspace_id = $2 and max_concurrent_runs is not null
        for no key update skip locked`,
      values: [agent.id, agent.workspace_id],
    });
    const max = locked.rows[0]?.max;
    const claimed: ClaimResult =
      max === undefined
        ? { runs: [], contended: true }
        : await claim(client, ofAgent, { ...claimant, agent, max });
    await client.query("commit");
    client.release();
    return claimed;
  } catch (thrown) {
    // Closes the connection, which rolls back in any state, instead of returning it to the pool.
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

/** The statements that claim queued runs, for `statements.sql`. */
export const claimStatements = [queued, ofAgent];
