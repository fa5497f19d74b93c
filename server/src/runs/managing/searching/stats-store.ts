import {
  type RunFilter,
  type RunStats,
  type RunStatus,
  runStatus,
  type StatsBucket,
} from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../../base/database/index.ts";
import { conditions, lookUpInput, scanRuns } from "./search-store.ts";

export interface StatsQuery {
  /**
   * The agents whose runs the actor can access; undefined if the actor can access the runs of all
   * agents.
   */
  readonly agentIds: readonly string[] | undefined;
  readonly filter: RunFilter;
  readonly bucket: StatsBucket | undefined;
  readonly byAgent: boolean;
  /** Maximum number of runs to read. */
  readonly maxRuns: number;
  /** Maximum number of groups to return. */
  readonly maxGroups: number;
}

type Group = RunStats["groups"][number];

type Row = { readonly [Status in RunStatus]: string } & {
  readonly scanned: string;
  readonly time_zone: string;
  readonly is_total: boolean;
  readonly starts: Date | null;
  readonly agent_id: string | null;
  readonly duration_ms: readonly [string, string] | null;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly cost_micros: string | null;
};

/** Statistics in the time zone of the workspace. */
type Stats = Pick<RunStats, "time_zone" | "total" | "groups">;

/**
 * Computes statistics of the runs that match the filter, except draft runs. Buckets begin in the
 * time zone of the workspace, and groups are ordered by bucket, then by agent. Inputs and results
 * are read by lateral subqueries with a limit, since for a join the planner could choose to read
 * the whole table.
 * @returns the statistics, or what exceeds its maximum.
 * @throws the error of a statement that PostgreSQL cancelled: see `limitTime`.
 */
export async function readStats(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { agentIds, filter, bucket, byAgent, maxRuns, maxGroups }: StatsQuery,
): Promise<Stats | { readonly tooMany: "runs" | "groups" }> {
  const search = { agentIds, filter, below: undefined };
  const scan = scanRuns(workspaceId, search, maxRuns + 1, { ordered: false });
  const keys = [
    ...(bucket === undefined ? [] : [sql`m.bucket`]),
    ...(byAgent ? [sql`m.agent_id`] : []),
  ];
  const isGrouped = keys.length > 0;
  const statuses = runStatus.options.map(
    (status) => sql`count(*) filter (where m.status = ${status}) as ${sql.ref(status)}`,
  );
  const { rows } = await sql<Row>`
    with scanned as materialized (select s.* from (${scan}) as s limit ${maxRuns + 1}),
    total as materialized (
      select count(*) as scanned, min(id) as lowest,
        (select w.time_zone from workspaces w where w.id = ${workspaceId}) as time_zone
      from scanned
    ),
    matching as (
      select s.agent_id, s.status, s.finished_at, e.input_tokens, e.output_tokens, e.cost_micros,
        -- extract would compute with numeric values, which takes longer.
        round(date_part('epoch', s.finished_at - s.started_at) * 1000)::bigint as duration_ms,
        ${bucket === undefined ? sql`null` : bucketOf(bucket)} as bucket
      from scanned s ${lookUpInput(filter)}
      left join lateral (
        select e.error_code, e.error_message, e.input_tokens, e.output_tokens, e.cost_micros
        from run_results e where e.run_id = s.id limit 1
      ) as e on true
      where (select scanned from total) <= ${maxRuns}
        -- Every draft run has a row here, and few runs are draft runs. The lower bound keeps
        -- PostgreSQL from reading older ones.
        and not exists (select from run_drafts d where d.run_id = s.id
          and d.workspace_id = ${workspaceId} and d.run_id >= (select lowest from total))
        and ${sql.join(conditions({ agentIds, filter }), sql` and `)}
    ),
    grouped as (
      select ${sql.join(
        [
          bucket === undefined ? sql`null::timestamptz as bucket` : sql`m.bucket`,
          byAgent ? sql`m.agent_id` : sql`null::text as agent_id`,
          isGrouped ? sql`grouping(${sql.join(keys)}) > 0 as is_total` : sql`true as is_total`,
          ...statuses,
        ],
        sql`, `,
      )},
        percentile_disc(array[0.5, 0.95]) within group (order by m.duration_ms)::text[]
          as duration_ms,
        coalesce(sum(m.input_tokens), 0) as input_tokens,
        coalesce(sum(m.output_tokens), 0) as output_tokens,
        -- A sum without the runs of unknown cost would be too low.
        case when bool_or(m.finished_at is not null and m.cost_micros is null) then null
          else coalesce(sum(m.cost_micros), 0) end as cost_micros
      from matching m group by grouping sets (${isGrouped ? sql`(${sql.join(keys)}), ` : sql``}())
    )
    select total.scanned, total.time_zone, g.*,
      ${bucket === "day" ? sql`d.starts` : sql`g.bucket`} as starts
    from total cross join grouped g ${bucket === "day" ? dayStarts : sql``}
    order by g.is_total desc, g.bucket, g.agent_id limit ${maxGroups + 2}`.execute(tx);
  const [first, ...others] = rows;
  if (first === undefined) throw new Error("the statistics have no total");
  if (Number(first.scanned) > maxRuns) return { tooMany: "runs" };
  if (others.length > maxGroups) return { tooMany: "groups" };
  const { bucket: _bucket, agent_id: _agent, ...total } = toGroup(first);
  const groups = (isGrouped ? others : [first]).map(toGroup);
  return { time_zone: first.time_zone, total, groups };
}

/** Returns SQL of the time at which the bucket of a scanned run `s` begins. */
const bucketOf = (bucket: StatsBucket): RawBuilder<unknown> =>
  bucket === "minute"
    ? // The same in each time zone, and faster than the time zone's rules.
      sql`date_bin('1 minute', s.created_at, 'epoch'::timestamptz)`
    : sql`date_trunc(${bucket}, s.created_at, (select time_zone from total))`;

/**
 * Joins a group `g` with the start of its day, also where midnight occurs twice: `date_trunc` takes
 * the later one, after runs of the day. Computed once for each day, not for each run, because
 * `period_of` takes longer.
 */
const dayStarts = sql`left join (
    select b.bucket, p.starts from (select distinct bucket from grouped) as b
    cross join total cross join lateral period_of(b.bucket, total.time_zone, 'day', 1) as p
  ) as d on d.bucket = g.bucket`;

function toGroup(row: Row): Group {
  const [p50, p95] = row.duration_ms ?? [null, null];
  return {
    bucket: row.starts?.toISOString() ?? null,
    agent_id: row.agent_id,
    runs: {
      waiting: Number(row.waiting),
      queued: Number(row.queued),
      running: Number(row.running),
      succeeded: Number(row.succeeded),
      failed: Number(row.failed),
      cancelled: Number(row.cancelled),
    },
    duration_ms: {
      p50: p50 === null ? null : Number(p50),
      p95: p95 === null ? null : Number(p95),
    },
    usage: { input_tokens: Number(row.input_tokens), output_tokens: Number(row.output_tokens) },
    cost_micros: row.cost_micros === null ? null : Number(row.cost_micros),
  };
}
