import { limitRanges } from "@beckon/contract";
import {
  type Database,
  inTransaction,
  type Parameters,
  type Queryable,
  type Statement,
  statement,
} from "../../base/database/index.ts";
import { engineVersion } from "../../base/engine-version.ts";
import { insertEvents } from "../../events/index.ts";
import type { OwnedRun } from "../executing/index.ts";
import { addEvents } from "../journal/index.ts";
import { isExpired } from "./expire-queued-statement.ts";

/** A run that this process has just claimed, with the fields that the claim reads. */
export interface ClaimedRun
  extends Omit<OwnedRun, "owner" | "isClaimed" | "output" | "firstCall" | "trace"> {
  readonly isDraft: boolean;
  readonly hasConcurrencyLimit: boolean;
  readonly cancelRequested: boolean;
  /** Whether the workspace has a limit of money or usage. */
  readonly isLimited: boolean;
}

/** The result of a claim. */
export interface ClaimResult {
  readonly runs: readonly ClaimedRun[];
  /**
   * Whether the claim skipped runs, or an agent with a concurrency limit, usually because another
   * process had locked them. A repeated claim can then find more runs.
   */
  readonly contended: boolean;
}

/**
 * Selects the agents that have queued runs, without the agents and workspaces in `except`. The
 * recursive part is a loose index scan: it reads one row for each of these agents, however long the
 * queue is, and one for each workspace in `except`. After that row it continues with the next
 * workspace: "b" comes after all ids of agents, which begin with "agt_".
 */
const waitingAgents = (except: string) => `
with recursive walk (workspace_id, agent_id) as (
  (select workspace_id, agent_id from runs where status = 'queued'
    order by workspace_id, agent_id limit 1)
  union all
  select following.* from walk w, lateral (
    select workspace_id, agent_id from runs
    where status = 'queued' and (workspace_id, agent_id) > (w.workspace_id,
      case when w.workspace_id = any (${except}) then 'b' else w.agent_id end)
    order by workspace_id, agent_id limit 1
  ) as following
), waiting as (
  select * from walk where workspace_id <> all (${except}) and agent_id <> all (${except})
)`;

/** Selects the oldest runs of an agent `a` that can be claimed, with ids above `after`. */
const oldestOf = (a: string, after: string, limit: string) => `select r.id
    from runs r join run_inputs i on i.run_id = r.id
    where r.status = 'queued' and r.workspace_id = ${a}.workspace_id and r.agent_id = ${a}.agent_id
      and r.id > ${after} and i.engine_version <= ${engineVersion} and not ${isExpired("r")}
    order by r.id limit ${limit}`;

/**
 * Selects the queued runs to claim next, without those that have expired. Of each agent's runs, the
 * oldest come first. The agents of a workspace take turns, and so do the workspaces. So an agent or
 * a workspace with many queued runs does not delay the runs of the others. The order of the turns
 * is random: otherwise a process with capacity for a single run would always take the oldest run,
 * which probably belongs to the agent with the most queued runs.
 *
 * The oldest run of each agent has one of the first turns of its workspace. No turn after
 * `max_turn` is chosen: if there are fewer of these runs than the claim takes, it is the number of
 * runs that the claim takes. A further run of an agent has a later turn than the oldest runs of all
 * agents of the workspace and the earlier runs of this agent, so `further` reads only runs that can
 * be chosen. Otherwise a claim would read as many runs of each agent as it takes in total.
 *
 * Agents with a concurrency limit are left to `claimLimited`.
 */
function candidates(p: Parameters<ClaimRequest>, limit: string): string {
  const shares = p.rows("s", ({ maxOf = new Map() }) => [...maxOf], {
    workspace_id: ["text", ([workspaceId]) => workspaceId],
    share: ["int", ([, max]) => max],
  });
  const maxOfOne = p.value("bigint", ({ eventIds, maxOfOne = eventIds.length }) => maxOfOne);
  return `${waitingAgents(exceptOf(p))}, free as (
  select w.*, coalesce(s.share, ${maxOfOne}) as share
  from waiting w left join ${shares.table} on s.workspace_id = w.workspace_id, lateral (
    select from agents a where a.id = w.agent_id and a.workspace_id = w.workspace_id
      and a.max_concurrent_runs is null limit 1
  ) as a
), oldest as (
  select q.id, f.workspace_id, f.agent_id, f.share,
    count(*) over (partition by f.workspace_id) as agents,
    row_number() over (partition by f.workspace_id order by random()) as turn
  from free f, lateral (
    ${oldestOf("f", "''", "1")}
  ) as q
), max_turn as (
  select coalesce((
    select turn from oldest where turn <= share order by turn offset ${limit} - 1 limit 1
  ), ${limit}) as turn
), further as (
  select q.id, o.workspace_id, o.share, o.agents,
    row_number() over (partition by o.workspace_id, o.agent_id order by q.id) as agent_turn
  from oldest o, lateral (
    ${oldestOf("o", "o.id", "greatest(0, least((select turn from max_turn), o.share) - o.agents)")}
  ) as q
), turns as (
  select id from (
    select id, turn, share from oldest
    union all
    select id, agents + row_number() over (partition by workspace_id order by agent_turn, random()),
      share
    from further
  ) as found where turn <= share order by turn, random() limit ${limit}
), picked as (
  select q.id from turns t cross join lateral (
    -- If this were "=", the planner could choose the index runs_queued and read the whole queue.
    select r.id from runs r where r.id = t.id and r.status is not distinct from 'queued'
    for no key update skip locked
  ) as q
)`;
}

/**
 * Maximum size of an input that a claim returns, in bytes. Larger inputs are left out, so that the
 * result of a claim has a bounded size.
 */
const maxReturnedInputBytes = 64 * 1024;

/**
 * Joins the size of the input in UTF-8, in bytes, including the blank line between prefix and
 * payload.
 */
const inputSize =
  "cross join lateral (select octet_length(i.prompt_prefix) + octet_length(i.payload) + 2 as bytes) as input";

/**
 * Returns SQL of the columns that are needed to execute a run `t`. `i` is the run's row in
 * `run_inputs`, and `input` comes from `inputSize`.
 * @param claimedAt an expression for the time of the claim.
 */
const columns = (
  claimedAt: string,
) => `t.id as run_id, t.workspace_id, t.agent_id, i.agent_version, t.fence, t.last_seq,
  t.fence > 1 as resumed, t.cancel_requested_at is not null as cancel_requested,
  extract(epoch from ${claimedAt} - t.started_at) * 1000 - t.waited_ms as elapsed_ms,
  input.bytes as input_bytes,
  case when input.bytes <= ${maxReturnedInputBytes} then run_input(i.prompt_prefix, i.payload) end as input,
  (select extract(epoch from p.updated_at)::text
    from agent_versions v join providers p on p.id = v.provider_id
    where v.agent_id = t.agent_id and v.version = i.agent_version) as provider_stamp,
  i.source = 'draft' as is_draft,
  exists (select from budgets b where b.workspace_id = t.workspace_id) as is_limited,
  exists (select from agents a where a.id = t.agent_id and a.max_concurrent_runs is not null)
    as has_concurrency_limit`;

/**
 * Additional SQL for claiming runs from the queue. If a stopping process released the run, the time
 * since then is added to `waited_ms`. Nothing is added for a run that was held before it was
 * queued, because it has no `started_at` yet. Nothing is added either if the database's clock was
 * set back since: a negative time would count as elapsed.
 */
const fromQueue = {
  set: `waited_ms = r.waited_ms + case when r.started_at < r.released_at
      then greatest(0, extract(epoch from now() - r.released_at) * 1000) else 0 end,`,
  lock: "",
};

/**
 * Additional SQL for taking over runs from a dead process. It sets the number of the attempt, and
 * adds the time since the exit of the process to `waited_ms`. It also locks the claimant's own row
 * in `processes`, so that the claimant can be declared dead only before the claim or after its
 * commit. Otherwise `countSuspects`, which counts the runs of a dead process, could miss runs that
 * the claimant took over.
 */
const failover = {
  set: "attempt = p.attempt, waited_ms = r.waited_ms + p.waited_ms,",
  lock: "for share",
};

/** Data of the event `run.resumed`, for each possible number of the attempt. */
const resumed = Array.from({ length: limitRanges.max_attempts.max }, (_, index) =>
  JSON.stringify({ attempt: index + 1 }),
);

/** What one claim asks for: who owns the runs, the ids of their events, and its limits. */
export interface ClaimRequest {
  readonly owner: string;
  /**
   * Ids for the events of the claimed runs. At most as many runs are claimed as there are ids. If
   * the reply to the claim is lost, the runs that it took are found by these ids.
   */
  readonly eventIds: readonly string[];
  /**
   * Ids of the workspaces whose runs wait in this process, for memory, for a limit of money or
   * usage, or for the share of the workspace, and of the agents whose runs wait for a ceiling. No
   * runs of these are claimed. Default: none.
   */
  readonly except?: readonly string[];
  /** Maximum number of queued runs to claim of each of these workspaces. Default: empty. */
  readonly maxOf?: ReadonlyMap<string, number>;
  /** Maximum number of queued runs to claim of every other workspace. Default: any number. */
  readonly maxOfOne?: number;
}

interface Claiming<Input extends ClaimRequest> {
  /**
   * Returns common table expressions, the last of which is `picked (id)`. If `failover` is true,
   * `picked` also has the columns `attempt` and `waited_ms`.
   */
  readonly picked: (p: Parameters<Input>, limit: string) => string;
  /**
   * Name of the common table expression with which `picked` is compared. If that expression has
   * more rows than `picked`, another process had locked some of the runs, and the claim returns
   * `contended`. With `picked` itself, the claim never returns `contended`.
   */
  readonly wanted: "turns" | "picked";
  /**
   * Whether the runs are taken over from dead processes. Otherwise they are claimed from the queue.
   */
  readonly failover: boolean;
}

/**
 * Creates a statement that claims the runs in `picked`: it updates their rows, writes their events,
 * and returns the columns that are needed to execute them.
 */
export function claimStatement<Input extends ClaimRequest = ClaimRequest>(
  name: string,
  claiming: Claiming<Input>,
): Statement<Input> {
  return statement<Input>(name, (p) => {
    const owner = p.value("text", (input) => input.owner);
    const limit = p.value("bigint", ({ eventIds }) => eventIds.length);
    const eventIds = p.value("text[]", (input) => input.eventIds);
    const resumedData = p.value("jsonb[]", () => resumed);
    const { set, lock } = claiming.failover ? failover : fromQueue;
    return `${claiming.picked(p, limit)}, numbered as (
  select *, row_number() over (order by id) as n from picked
), taken as (
  update runs r set status = 'running', owner = ${owner}, fence = r.fence + 1, ${set}
    started_at = coalesce(r.started_at, now()), ${addEvents("1")}
  from numbered p where r.id = p.id
    and exists (select from processes where id = ${owner} and died_at is null ${lock})
  returning r.id, r.workspace_id, r.agent_id, r.fence, r.last_seq, r.last_transaction, r.attempt,
    r.started_at, r.waited_ms, r.cancel_requested_at, p.n
), claim_events as not materialized (
  select id as run_id, last_seq as seq, workspace_id, agent_id, last_transaction as transaction,
    (${eventIds})[n] as id,
    case when fence > 1 then 'run.resumed' else 'run.started' end as type,
    case when fence > 1 then (${resumedData})[attempt] else '{}' end as data
  from taken
), ${insertEvents("claim_events")}
select (select count(*) from ${claiming.wanted}) > (select count(*) from picked) as contended,
  ${columns("now()")}
from (values (1)) as always
  left join (taken t join run_inputs i on i.run_id = t.id ${inputSize}) on true order by t.id`;
  });
}

interface ClaimedRow {
  /** Null in the only row of a claim that took no runs. */
  readonly run_id: string | null;
  readonly contended: boolean;
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly agent_version: number;
  readonly provider_stamp: string | null;
  readonly is_draft: boolean;
  readonly is_limited: boolean;
  readonly has_concurrency_limit: boolean;
  readonly fence: number;
  readonly last_seq: number;
  readonly resumed: boolean;
  readonly cancel_requested: boolean;
  readonly elapsed_ms: string;
  readonly input: string | null;
  readonly input_bytes: number;
}

/** Executes a statement that `claimStatement` created. */
export async function claim<Input extends ClaimRequest>(
  database: Queryable,
  claiming: Statement<Input>,
  request: Input,
): Promise<ClaimResult> {
  const { rows } = await database.query<ClaimedRow>(claiming.query(request));
  return { runs: rows.flatMap(toClaimed), contended: rows[0]?.contended ?? false };
}

/**
 * Returns the runs of claims whose replies were lost, each with the id of the event that its claim
 * wrote. Leaves out runs that have been executed since: in their journals, this event is no longer
 * the last one. Also leaves out runs whose owner was declared dead since: it cannot write to their
 * journals, and other processes take them over.
 */
export async function findClaimed(
  database: Database,
  claims: readonly Pick<ClaimRequest, "owner" | "eventIds">[],
): Promise<{ readonly eventId: string; readonly run: ClaimedRun }[]> {
  const { rows } = await database.engine.query<ClaimedRow & { readonly event_id: string }>({
    name: "find-claimed",
    text: `select e.id as event_id, ${columns("e.time")}
      from runs t join run_inputs i on i.run_id = t.id ${inputSize}
        join events e on e.run_id = t.id and e.seq = t.last_seq
      where t.status = 'running' and t.owner = any ($1) and e.id = any ($2)
        and exists (select from processes p where p.id = t.owner and p.died_at is null)`,
    values: [
      [...new Set(claims.map(({ owner }) => owner))],
      claims.flatMap(({ eventIds }) => eventIds),
    ],
  });
  return rows.flatMap((row) => toClaimed(row).map((run) => ({ eventId: row.event_id, run })));
}

/** Returns the parameter that contains the workspaces whose runs are not claimed. */
export const exceptOf = (p: Parameters<ClaimRequest>) =>
  p.value("text[]", ({ except = [] }) => except);

const queued = claimStatement("claim", {
  picked: candidates,
  wanted: "turns",
  failover: false,
});

/**
 * Claims queued runs of agents without a concurrency limit. Many processes can call it at the same
 * time.
 */
export function claimQueued(database: Database, request: ClaimRequest): Promise<ClaimResult> {
  return claim(database.engine, queued, request);
}

/**
 * Claims queued runs of agents with a concurrency limit, one agent at a time. A transaction first
 * locks the agent's row. Its next statement counts the agent's running runs and claims queued ones.
 * A single statement would count with a snapshot taken before the lock, and so miss the runs that
 * another process claimed while this one waited for the lock. The lock is not `for update`, which
 * would block the foreign-key checks of new runs.
 *
 * Agents get equal parts of the capacity, in random order. Capacity that some agents do not use is
 * divided again among the others.
 */
export async function claimLimited(
  database: Database,
  { owner, eventIds, except = [], maxOf, maxOfOne = eventIds.length }: ClaimRequest,
): Promise<ClaimResult> {
  const { rows: agents } = await database.engine.query<LimitedAgent>({
    name: "claim-limited-agents",
    text: `${waitingAgents("$1::text[]")}
      select w.agent_id as id, w.workspace_id
      from waiting w, lateral (
        select from agents a where a.id = w.agent_id and a.workspace_id = w.workspace_id
          and a.max_concurrent_runs is not null
          and (select count(*) from runs e where e.status = 'running' and e.agent_id = a.id)
            < a.max_concurrent_runs
        limit 1
      ) as a
      order by row_number() over (partition by w.workspace_id order by random()), random()`,
    values: [except],
  });
  const runs: ClaimedRun[] = [];
  const left = new Map(maxOf);
  let contended = false;
  for (let remaining = agents; remaining.length > 0; ) {
    const wantMore: LimitedAgent[] = [];
    for (const [index, agent] of remaining.entries()) {
      const part = Math.ceil((eventIds.length - runs.length) / (remaining.length - index));
      if (part === 0) break;
      const leftOfWorkspace = left.get(agent.workspace_id) ?? maxOfOne;
      const max = Math.min(part, leftOfWorkspace);
      if (max === 0) continue;
      const taken = await claimOfAgent(
        database,
        { owner, eventIds: eventIds.slice(runs.length, runs.length + max), except },
        agent,
      );
      runs.push(...taken.runs);
      left.set(agent.workspace_id, leftOfWorkspace - taken.runs.length);
      contended ||= taken.contended;
      if (taken.runs.length === max) wantMore.push(agent);
    }
    remaining = wantMore;
  }
  return { runs, contended };
}

interface LimitedAgent {
  readonly id: string;
  readonly workspace_id: string;
}

interface AgentClaimRequest extends ClaimRequest {
  readonly agent: LimitedAgent;
  /** The agent's concurrency limit. */
  readonly max: number;
}

/** Claims the agent's oldest queued runs that have not expired, up to its concurrency limit. */
const ofAgent = claimStatement<AgentClaimRequest>("claim-limited", {
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
    and i.engine_version <= ${engineVersion} and not ${isExpired("r")}
  order by r.id
  limit least(${limit}, greatest(0, ${max} - (
    select count(*) from runs e where e.status = 'running' and e.agent_id = ${agentId})))
  for no key update of r skip locked
)`;
  },
});

function claimOfAgent(
  database: Database,
  request: ClaimRequest,
  agent: LimitedAgent,
): Promise<ClaimResult> {
  return inTransaction(database.engine, async (client) => {
    const locked = await client.query<{ max: number }>({
      name: "claim-limited-lock",
      text: `select max_concurrent_runs as max from agents
        where id = $1 and workspace_id = $2 and max_concurrent_runs is not null
        for no key update skip locked`,
      values: [agent.id, agent.workspace_id],
    });
    const max = locked.rows[0]?.max;
    return max === undefined
      ? { runs: [], contended: true }
      : claim(client, ofAgent, { ...request, agent, max });
  });
}

function toClaimed(row: ClaimedRow): ClaimedRun[] {
  if (row.run_id === null) return [];
  const claimed: ClaimedRun = {
    runId: row.run_id,
    workspaceId: row.workspace_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    providerStamp: row.provider_stamp,
    isDraft: row.is_draft,
    isLimited: row.is_limited,
    hasConcurrencyLimit: row.has_concurrency_limit,
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

/** The statements that claim queued runs, for `runs/statements.sql`. */
export const claimStatements = [queued, ofAgent];
