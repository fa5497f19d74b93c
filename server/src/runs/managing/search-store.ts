import type { RunFilter, RunStatus } from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { lowestIdAt } from "../../base/ids.ts";

/** Runs that one search looks at, at most, whatever there are and however few it finds. */
export const maxScanned = 10_000;

/**
 * Milliseconds by which a run's id may be off its `created_at`: the id is made by a process before it asks the database, `created_at` by the
 * database, and their clocks may differ.
 */
const idSlackMs = 300_000;

export interface Search {
  /** What the actor may see; undefined: every agent's. */
  readonly agentIds: readonly string[] | undefined;
  readonly filter: RunFilter;
  /** For a change of many: only runs in these states that were there when its transaction began, and that nobody has asked to cancel. */
  readonly change?: readonly RunStatus[];
  readonly below: string | undefined;
  readonly limit: number;
}

export interface Found {
  /** At most `limit`, newest first. */
  readonly runIds: readonly string[];
  /** The id below which the search goes on; undefined: there is nothing more. It may go on after a page that is not full. */
  readonly goOn: string | undefined;
}

/**
 * The newest runs that fit, in a bounded time: it walks down an index and stops after so many runs, also when it has found none, and says
 * where to go on. Runs that have not ended are few, and found by the indexes that hold them alone.
 * What a run was started with and how it ended is looked up run by run, by lateral subqueries with a limit: a join might read the whole table.
 */
export async function searchRuns(
  tx: WorkspaceTransaction,
  workspaceId: string,
  search: Search,
): Promise<Found> {
  const { filter, change, limit } = search;
  const agentIds = agentsOf(search);
  if (agentIds?.length === 0) return { runIds: [], goOn: undefined };
  const wanted = filter.status ?? change;
  const { agent_id: _, ...conditional } = filter;
  const everyRunFits =
    change === undefined && Object.values(conditional).every((member) => member === undefined);
  const parts = agentIds?.length ?? 1;
  const unfinished =
    wanted?.every((status) => status === "queued" || status === "running") ?? false;
  const max = everyRunFits
    ? limit + 1
    : unfinished
      ? maxScanned
      : Math.max(limit + 1, Math.ceil(maxScanned / parts));
  const bounds = boundsOf(search);
  const scanned = unfinished
    ? scanUnfinished(workspaceId, wanted ?? [], agentIds, bounds, max)
    : agentIds === undefined
      ? sql`select '' as part, ${columns} from runs r where ${ofWorkspace(workspaceId, bounds)} order by r.id desc limit ${max}`
      : scanAgents(workspaceId, agentIds, bounds, max);
  const { rows } = await sql<{ id: string | null; lowest: string | null }>`
    with scanned as materialized (${scanned}),
    -- Of an agent that has more than was looked at nothing is known below this id, so the search ends there for all.
    reached as (select max(p.lowest) as lowest from (select min(s.id) as lowest from scanned s group by s.part having count(*) >= ${max}) as p)
    select f.id, reached.lowest from reached left join lateral (
      select s.id from scanned s ${lookUps(filter)}
      where (reached.lowest is null or s.id >= reached.lowest) and ${sql.join(conditions(filter, change), sql` and `)}
      order by s.id desc limit ${limit + 1}
    ) as f on true order by f.id desc`.execute(tx);
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  const runIds = ids.slice(0, limit);
  return { runIds, goOn: ids.length > limit ? runIds.at(-1) : (rows[0]?.lowest ?? undefined) };
}

function agentsOf({ agentIds, filter }: Search): readonly string[] | undefined {
  const { agent_id } = filter;
  if (agent_id === undefined) return agentIds;
  return agentIds === undefined || agentIds.includes(agent_id) ? [agent_id] : [];
}

const columns = sql`r.id, r.status, r.created_at, r.cancel_requested_at`;

/** The range of ids that is walked: from `lowest` on, and below each of `below`. */
interface Bounds {
  readonly lowest: string;
  readonly below: readonly string[];
}

function boundsOf({ filter, below }: Search): Bounds {
  const { created_after: after, created_before: before } = filter;
  const at = (time: string, slack: number) => lowestIdAt("run", new Date(Date.parse(time) + slack));
  return {
    lowest: after === undefined ? "" : at(after, -idSlackMs),
    below: [
      above,
      ...(below === undefined ? [] : [below]),
      ...(before === undefined ? [] : [at(before, idSlackMs)]),
    ],
  };
}

/** Above the id of every run. */
const above = `run_${"z".repeat(26)}`;

function ofWorkspace(workspaceId: string, { lowest, below }: Bounds): RawBuilder<unknown> {
  const upper = sql.join(
    below.map((id) => sql`r.id < ${id}`),
    sql` and `,
  );
  return sql`r.workspace_id = ${workspaceId} and r.id >= ${lowest} and ${upper}`;
}

/**
 * Of each agent the newest. Agent and id are compared as pairs, and give the order as a pair: of that order is only the index of agents' runs.
 * With `agent_id = a.id order by id` the planner, which does not know how many runs each agent has, may walk the workspace's runs and look
 * for the few of an agent among them.
 */
function scanAgents(
  workspaceId: string,
  agentIds: readonly string[],
  { lowest, below }: Bounds,
  max: number,
): RawBuilder<unknown> {
  const upper = sql.join(
    below.map((id) => sql`(r.agent_id, r.id) < (a.id, ${id})`),
    sql` and `,
  );
  return sql`select a.id as part, newest.* from unnest(${agentIds}::text[]) as a (id), lateral (
    select ${columns} from runs r where (r.agent_id, r.id) >= (a.id, ${lowest}) and ${upper} and r.workspace_id = ${workspaceId}
    order by r.agent_id desc, r.id desc limit ${max}) as newest`;
}

/** The states stand in the statement as they stand in the indexes, which hold nothing else. */
function scanUnfinished(
  workspaceId: string,
  wanted: readonly RunStatus[],
  agentIds: readonly string[] | undefined,
  range: Bounds,
  max: number,
): RawBuilder<unknown> {
  const bounds = ofWorkspace(workspaceId, range);
  const ofAgents = agentIds === undefined ? sql`true` : sql`r.agent_id = any (${agentIds}::text[])`;
  const states = [
    ...(wanted.includes("queued")
      ? [sql`select ${columns} from runs r where r.status = 'queued' and ${ofAgents} and ${bounds}`]
      : []),
    ...(wanted.includes("running")
      ? [
          sql`select ${columns} from runs r where r.status = 'running' and ${ofAgents} and ${bounds}`,
        ]
      : []),
  ];
  return sql`select '' as part, u.* from (${sql.join(states, sql` union all `)}) as u order by u.id desc limit ${max}`;
}

function lookUps({ source, trigger_id, error }: RunFilter): RawBuilder<unknown> {
  const input = sql`join lateral (select i.source, i.trigger_id from run_inputs i where i.run_id = s.id limit 1) as i on true`;
  const result = sql`join lateral (select e.error_code, e.error_message from run_results e where e.run_id = s.id limit 1) as e on true`;
  return sql`${source === undefined && trigger_id === undefined ? sql`` : input} ${error === undefined ? sql`` : result}`;
}

function conditions(
  filter: RunFilter,
  change: readonly RunStatus[] | undefined,
): RawBuilder<unknown>[] {
  const {
    status = change,
    source,
    trigger_id,
    error,
    created_after: after,
    created_before: before,
  } = filter;
  return [
    sql`true`,
    ...(status === undefined ? [] : [sql`s.status = any (${status}::text[])`]),
    ...(change === undefined ? [] : [sql`s.created_at <= now()`]),
    ...(change?.includes("running") ? [sql`s.cancel_requested_at is null`] : []),
    ...(after === undefined ? [] : [sql`s.created_at >= ${new Date(after)}`]),
    ...(before === undefined ? [] : [sql`s.created_at < ${new Date(before)}`]),
    ...(source === undefined ? [] : [sql`i.source = any (${source}::text[])`]),
    ...(trigger_id === undefined ? [] : [sql`i.trigger_id = ${trigger_id}`]),
    // Only what did not succeed has an error. A position, not a pattern: no character of the text means anything but itself.
    ...(error === undefined
      ? []
      : [
          sql`s.status in ('failed', 'cancelled') and strpos(lower(concat_ws(' ', e.error_code, e.error_message)), lower(${error})) > 0`,
        ]),
  ];
}
