import type { RunFilter, RunStatus } from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../../base/database/index.ts";
import { idSlackMs, lowestIdAt } from "../../../base/ids.ts";
import type { AccessibleAgents } from "../../access.ts";
import { isAccessible } from "../../access-store.ts";

/**
 * Maximum number of runs that one search reads, however few of them match. A search among the runs
 * of many agents can read more: it always reads up to `limit + 1` runs of each agent.
 */
export const maxScanned = 10_000;

export interface Search {
  readonly agentIds: AccessibleAgents;
  readonly filter: RunFilter;
  /**
   * Set if the found runs will be cancelled or deleted. If set, the search finds only runs that are
   * in one of these states, were created before the transaction began and, if the states include
   * `running`, have no requested cancellation.
   */
  readonly change?: readonly RunStatus[];
  /** The search finds only runs with ids below this one; undefined for no bound. */
  readonly below: string | undefined;
  readonly limit: number;
}

export interface Found {
  /** Ids of the found runs, newest first. At most `limit`. */
  readonly runIds: readonly string[];
  /**
   * The value of `below` with which the search continues; undefined if no runs are left to search.
   * It can be set although fewer than `limit` runs were found.
   */
  readonly nextBelow: string | undefined;
}

/**
 * Finds the newest runs that match. To take a bounded time, it scans an index backwards and stops
 * after `maxScanned` runs, even if none of them matched. For runs with an external id and for runs
 * that have not ended it uses partial indexes, which are small. Inputs and results are read by
 * lateral subqueries with a limit, since for a join the planner could choose to read the whole
 * table.
 */
export async function searchRuns(
  tx: WorkspaceTransaction,
  workspaceId: string,
  search: Search,
): Promise<Found> {
  const { filter, change, limit } = search;
  const agentIds = agentsOf(search);
  if (agentIds?.length === 0) return { runIds: [], nextBelow: undefined };
  const { agent_id: _, ...conditional } = filter;
  const everyRunMatches =
    change === undefined && Object.values(conditional).every((value) => value === undefined);
  const parts = agentIds?.length ?? 1;
  const max = everyRunMatches
    ? limit + 1
    : isUnfinished(filter.status ?? change) || filter.external_id !== undefined
      ? maxScanned
      : Math.max(limit + 1, Math.ceil(maxScanned / parts));
  const scanned = scanRuns(workspaceId, search, max);
  const { rows } = await sql<{ id: string | null; lowest: string | null }>`
    with scanned as materialized (${scanned}),
    -- A part is the runs of one agent, or all runs (see scanRuns). If the scan of a part reached
    -- its maximum, older runs of that part were not scanned. So below the highest id at which a
    -- scan stopped, matching runs can be missing. The search ends at that id, and the next page
    -- continues there.
    reached as (
      select max(p.lowest) as lowest from (
        select min(s.id) as lowest from scanned s group by s.part having count(*) >= ${max}
      ) as p
    )
    select f.id, reached.lowest from reached left join lateral (
      select s.id from scanned s ${lookUps(filter)}
      where (reached.lowest is null or s.id >= reached.lowest)
        and ${sql.join(conditions(search), sql` and `)}
      order by s.id desc limit ${limit + 1}
    ) as f on true order by f.id desc`.execute(tx);
  const ids = rows.flatMap(({ id }) => (id === null ? [] : [id]));
  const runIds = ids.slice(0, limit);
  return {
    runIds,
    nextBelow: ids.length > limit ? runIds.at(-1) : (rows[0]?.lowest ?? undefined),
  };
}

/**
 * Returns a query that scans an index for the newest runs. The scan always applies `below` and the
 * time range, widened by `idSlackMs`. It also applies the external id or, without one, the agents;
 * if all wanted states are in `unfinished`, it applies them with the agents. The scan can find runs
 * that do not match, so the caller must also apply `conditions`. If the query scans the runs of
 * each agent separately, its column `part` contains the agent's id; otherwise `part` is empty.
 * @param max maximum number of runs of each part.
 * @param options `ordered`: whether the scan must find the newest runs. If false, it can find any
 *   runs, so that PostgreSQL sorts nothing. Default true.
 */
export function scanRuns(
  workspaceId: string,
  search: Pick<Search, "agentIds" | "filter" | "change" | "below">,
  max: number,
  { ordered = true }: { readonly ordered?: boolean } = {},
): RawBuilder<unknown> {
  const agentIds = agentsOf(search);
  const wanted = search.filter.status ?? search.change;
  const bounds = boundsOf(search);
  const { external_id } = search.filter;
  if (external_id !== undefined) return scanExternalId(workspaceId, external_id, bounds, max);
  if (isUnfinished(wanted)) return scanUnfinished(workspaceId, wanted, agentIds, bounds, max);
  return agentIds === undefined
    ? sql`select '' as part, ${columns} from runs r where ${ofWorkspace(workspaceId, bounds)}
        ${ordered ? sql`order by r.id desc` : sql``} limit ${max}`
    : scanAgents(workspaceId, agentIds, bounds, max);
}

/** The states of runs that have not ended. Each has a partial index. */
const unfinished: readonly RunStatus[] = ["waiting", "queued", "running"];

/**
 * Returns whether all runs in these states are in the partial indexes of runs that have not ended.
 */
function isUnfinished(wanted: readonly RunStatus[] | undefined): wanted is readonly RunStatus[] {
  return wanted?.every((status) => unfinished.includes(status)) ?? false;
}

function agentsOf({
  agentIds,
  filter,
}: Pick<Search, "agentIds" | "filter">): readonly string[] | undefined {
  const { agent_id } = filter;
  if (agent_id === undefined) return agentIds;
  return agentIds === undefined || agentIds.includes(agent_id) ? [agent_id] : [];
}

const columns = sql`r.id, r.agent_id, r.status, r.created_at, r.started_at, r.finished_at,
  r.cancel_requested_at`;

/** The range of ids to scan: at least `lowest`, and below each id in `below`. */
interface Bounds {
  readonly lowest: string;
  readonly below: readonly string[];
}

function boundsOf({ filter, below }: Pick<Search, "filter" | "below">): Bounds {
  const { created_after: after, created_before: before } = filter;
  const at = (time: string, slack: number) => lowestIdAt("run", new Date(Date.parse(time) + slack));
  return {
    lowest: after === undefined ? "" : at(after, -idSlackMs),
    below: [
      upperBound,
      ...(below === undefined ? [] : [below]),
      ...(before === undefined ? [] : [at(before, idSlackMs)]),
    ],
  };
}

/** A text that sorts after the id of every run. */
const upperBound = `run_${"z".repeat(26)}`;

function ofWorkspace(workspaceId: string, { lowest, below }: Bounds): RawBuilder<unknown> {
  const upper = sql.join(
    below.map((id) => sql`r.id < ${id}`),
    sql` and `,
  );
  return sql`r.workspace_id = ${workspaceId} and r.id >= ${lowest} and ${upper}`;
}

/**
 * Scans the newest runs of each agent. The query compares and orders agent and id as a pair, for
 * which the planner can use only the index on agent and id. With `agent_id = a.id order by id` the
 * planner, which does not know how many runs an agent has, might scan all runs of the workspace to
 * find a few runs of the agent.
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
    select ${columns} from runs r where (r.agent_id, r.id) >= (a.id, ${lowest}) and ${upper}
      and r.workspace_id = ${workspaceId}
    order by r.agent_id desc, r.id desc limit ${max}) as newest`;
}

/**
 * Scans the newest runs with this external id. The index does not contain the agent, so the runs of
 * all agents are scanned.
 */
function scanExternalId(
  workspaceId: string,
  externalId: string,
  { lowest, below }: Bounds,
  max: number,
): RawBuilder<unknown> {
  const upper = sql.join(
    below.map((id) => sql`i.run_id < ${id}`),
    sql` and `,
  );
  return sql`select '' as part, found.* from (
      select i.run_id from run_inputs i where i.workspace_id = ${workspaceId}
        and i.external_id = ${externalId} and i.run_id >= ${lowest} and ${upper}
      order by i.run_id desc limit ${max}
    ) as inputs join lateral (
      select ${columns} from runs r where r.id = inputs.run_id limit 1) as found on true`;
}

/**
 * Scans the newest runs that have not ended. The states are literals, not parameters, so that the
 * planner can use the partial indexes.
 */
function scanUnfinished(
  workspaceId: string,
  wanted: readonly RunStatus[],
  agentIds: readonly string[] | undefined,
  range: Bounds,
  max: number,
): RawBuilder<unknown> {
  const bounds = ofWorkspace(workspaceId, range);
  const ofAgents = isAccessible("r.agent_id", agentIds);
  const states = unfinished
    .filter((status) => wanted.includes(status))
    .map(
      (status) =>
        sql`select ${columns} from runs r
          where r.status = ${sql.lit(status)} and ${ofAgents} and ${bounds}`,
    );
  return sql`select '' as part, u.* from (${sql.join(states, sql` union all `)}) as u
    order by u.id desc limit ${max}`;
}

function lookUps(filter: RunFilter): RawBuilder<unknown> {
  const result = sql`join lateral (
    select e.error_code, e.error_message from run_results e where e.run_id = s.id limit 1
  ) as e on true`;
  return sql`${lookUpInput(filter)} ${filter.error === undefined ? sql`` : result}`;
}

/** Returns a join that looks up the input `i` of each scanned run `s`, if the filter needs it. */
export function lookUpInput({ source, trigger_id, tag }: RunFilter): RawBuilder<unknown> {
  if (source === undefined && trigger_id === undefined && tag === undefined) return sql``;
  return sql`join lateral (
    select i.source, i.trigger_id, i.tags from run_inputs i where i.run_id = s.id limit 1
  ) as i on true`;
}

/**
 * Returns the conditions of a search. They name a scanned run `s`, its input `i` and its result
 * `e`.
 */
export function conditions(
  search: Pick<Search, "agentIds" | "filter" | "change">,
): RawBuilder<unknown>[] {
  const { change } = search;
  const agentIds = agentsOf(search);
  const {
    status = change,
    source,
    trigger_id,
    external_id,
    tag,
    error,
    created_after: after,
    created_before: before,
  } = search.filter;
  return [
    sql`true`,
    ...(status === undefined ? [] : [sql`s.status = any (${status}::text[])`]),
    ...(change === undefined ? [] : [sql`s.created_at <= now()`]),
    ...(change?.includes("running")
      ? [sql`(s.cancel_requested_at is null or s.status <> 'running')`]
      : []),
    ...(after === undefined ? [] : [sql`s.created_at >= ${new Date(after)}`]),
    ...(before === undefined ? [] : [sql`s.created_at < ${new Date(before)}`]),
    ...(source === undefined ? [] : [sql`i.source = any (${source}::text[])`]),
    ...(trigger_id === undefined ? [] : [sql`i.trigger_id = ${trigger_id}`]),
    ...(tag === undefined ? [] : [sql`${tag} = any (i.tags)`]),
    // This condition is needed only for the scan by external id. The other scans find only runs of
    // `agentIds`.
    ...(external_id === undefined || agentIds === undefined
      ? []
      : [sql`s.agent_id = any (${agentIds}::text[])`]),
    // Only runs in these states have an error. `strpos` is used instead of a pattern, since it
    // gives no character of the text a special meaning.
    ...(error === undefined
      ? []
      : [
          sql`s.status in ('failed', 'cancelled')
            and strpos(lower(concat_ws(' ', e.error_code, e.error_message)), lower(${error})) > 0`,
        ]),
  ];
}
