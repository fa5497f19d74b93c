import type { UsageGroup, UsageTotals } from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { needsEntries, type UsageRange } from "./range.ts";
import { countColumns } from "./sum-entries.ts";

export interface ReportQuery {
  /** At most two groups. */
  readonly groups: readonly UsageGroup[];
  readonly range: UsageRange;
  /** Ids of the agents whose usage counts; undefined for all agents. */
  readonly agentIds: readonly string[] | undefined;
  readonly model: string | undefined;
  readonly caller: string | undefined;
  readonly tag: string | undefined;
  /** The time zone in which hours begin. */
  readonly timeZone: string;
  /** `keys` of the last row of the previous page; undefined for the first page. */
  readonly after: readonly [string, string] | undefined;
  /** Maximum number of rows to return. */
  readonly limit: number;
}

/** The sums of one group. */
export interface ReportRow {
  /**
   * The values by which the row is grouped, in the order of the query's groups; empty strings if
   * there are fewer than two. A missing tag is an empty string.
   */
  readonly keys: readonly [string, string];
  readonly amounts: UsageTotals;
}

export interface Report {
  /** Sums over all rows, including those of other pages. */
  readonly totals: UsageTotals;
  /** The rows of the page, sorted by their `keys`. */
  readonly rows: readonly ReportRow[];
  /** Time of the workspace's first entry; null if it has none. */
  readonly since: Date | null;
}

const summed = [
  "entries",
  ...countColumns,
  "cost_micros",
  "unknown_cost_entries",
  "estimated_entries",
] as const;

type Row = { readonly [Column in (typeof summed)[number]]: string } & {
  readonly is_total: boolean;
  readonly key_1: string;
  readonly key_2: string;
  readonly since: Date | null;
};

/**
 * Returns the workspace's time zone and local date, the database's current time, and the time and
 * local date up to which single entries were deleted; undefined if none were. Entries from before a
 * change of the time zone can have a later date than now. For them it is that of UTC+14.
 */
export async function readToday(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<{
  timeZone: string;
  today: string;
  now: Date;
  deletedUntil: { readonly time: Date; readonly day: string } | undefined;
}> {
  const { rows } = await sql<{
    time_zone: string;
    today: string;
    now: Date;
    deleted_until: Date | null;
    deleted_day: string | null;
  }>`
    select w.time_zone, to_char(now() at time zone w.time_zone, 'YYYY-MM-DD') as today, now() as now,
      r.deleted_until, to_char(greatest(r.deleted_until at time zone w.time_zone,
        case when w.time_zone_changed_at is not null
          then least(r.deleted_until, w.time_zone_changed_at) at time zone 'UTC' + interval '14 hours'
        end), 'YYYY-MM-DD') as deleted_day
    from workspaces w left join usage_rollups r on r.workspace_id = w.id
    where w.id = ${workspaceId}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("the workspace has no row");
  const { time_zone: timeZone, today, now, deleted_until: time, deleted_day: day } = row;
  return {
    timeZone,
    today,
    now,
    deletedUntil: time === null || day === null ? undefined : { time, day },
  };
}

/**
 * Returns the newest day of the workspace's usage, or `today` if that is later. After the workspace
 * has moved to a time zone further west, entries can have days that have not begun there.
 */
export async function readLastDay(
  tx: WorkspaceTransaction,
  workspaceId: string,
  today: string,
): Promise<string> {
  const { rows } = await sql<{ day: string }>`
    select to_char(greatest(${today}::date,
      (select max(u.day) from usage_days u
        where u.workspace_id = ${workspaceId} and u.day > ${today}::date),
      (select max(u.day) from usage_entries u
        where u.workspace_id = ${workspaceId} and ${isUnsummed(workspaceId)})
    )::timestamp, 'YYYY-MM-DD') as day`.execute(tx);
  return rows[0]?.day ?? today;
}

/**
 * Returns whether the workspace has or had this agent. Reads the table `agents` itself, because
 * this module must not import `agents/`, which is in a layer above. Deleted agents count, since
 * their usage stays.
 */
export async function hasAgent(
  tx: WorkspaceTransaction,
  workspaceId: string,
  agentId: string,
): Promise<boolean> {
  const row = await tx
    .selectFrom("agents")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", agentId)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Sums usage by the query's groups. Unless the report needs single entries, one statement reads the
 * sums by day and, with `unsummed`, the entries that are not in these sums yet. It reads one
 * snapshot, so each entry counts exactly once, even while another process sums up entries.
 */
export async function readReport(
  tx: WorkspaceTransaction,
  workspaceId: string,
  query: ReportQuery,
): Promise<Report> {
  const { groups, after, limit } = query;
  const byTag = groups.includes("tag");
  const [one, two] = [keyOf(groups[0], query), keyOf(groups[1], query)];
  const [key1, key2] = [sql.ref("k.key_1"), sql.ref("k.key_2")];
  const { rows } = await sql<Row>`
    with used as (${needsEntries(query, query.range) ? entries(workspaceId, query) : sql`${days(workspaceId, query)} union all ${unsummed(workspaceId, query)}`}),
    keyed as (
      select u.*, ${one.value} as key_1, ${two.value} as key_2 from used u
      ${byTag ? sql`cross join lateral unnest(coalesce(nullif(u.tags, '{}'), array[''])) as t (tag)` : sql``}
    ),
    -- Texts are sorted by their bytes, so that the order is the same in every database.
    grouped as materialized (
      select (${one.text(key1)}) collate "C" as key_1, (${two.text(key2)}) collate "C" as key_2, ${sums("k")}
      from keyed k group by k.key_1, k.key_2
    ),
    -- If the report is grouped by tag, a run with several tags is in several rows. The sum of the
    -- rows would then count the run several times.
    total as (select ${sums("g")} from ${byTag ? sql`used` : sql`grouped`} as g),
    page as (
      select * from grouped
      ${after === undefined ? sql`` : sql`where (key_1, key_2) > (${after[0]}, ${after[1]})`}
      order by key_1, key_2 limit ${limit}
    )
    select true as is_total, '' as key_1, '' as key_2, ${columns("total")},
      ${since(workspaceId, query)} as since
      from total
    union all
    select false, key_1, key_2, ${columns("page")}, null from page
    order by is_total desc, key_1, key_2`.execute(tx);
  const [total, ...page] = rows;
  if (total === undefined) throw new Error("a sum has no row");
  return {
    totals: amountsOf(total),
    rows: page.map((row) => ({ keys: [row.key_1, row.key_2], amounts: amountsOf(row) })),
    since: total.since,
  };
}

/**
 * Returns SQL of the time of the workspace's first entry. If entries were deleted, it is the
 * beginning of the first day with sums.
 */
function since(workspaceId: string, { timeZone }: ReportQuery): RawBuilder<unknown> {
  return sql`coalesce(
    (select (select min(u.day) from usage_days u where u.workspace_id = ${workspaceId})::timestamp
        at time zone ${timeZone}
      from usage_rollups r where r.workspace_id = ${workspaceId} and r.deleted_until is not null),
    (select min(e.time) from usage_entries e where e.workspace_id = ${workspaceId}))`;
}

/** Returns SQL that selects the sums by day. */
function days(workspaceId: string, query: ReportQuery): RawBuilder<unknown> {
  return sql`select u.day, null::timestamptz as time, u.agent_id, u.provider, u.model, u.principal,
      u.kind, null::text[] as tags, u.entries, ${columns("u", countColumns)}, u.cost_micros,
      u.unknown_cost_entries, u.estimated_entries
    from usage_days u where ${conditions(workspaceId, query)}`;
}

/** Returns SQL that selects the entries that are not in the sums by day yet. */
function unsummed(workspaceId: string, query: ReportQuery): RawBuilder<unknown> {
  return sql`${entry} where ${conditions(workspaceId, query)} and ${isUnsummed(workspaceId)}`;
}

/** Returns the condition that an entry `u` of the workspace is not in the sums by day yet. */
function isUnsummed(workspaceId: string): RawBuilder<unknown> {
  // "coalesce" must be inside the subquery. With row-level security, the planner uses no index for
  // a condition with "coalesce", because "coalesce" does not count as leakproof.
  return sql`u.transaction >= (
      select coalesce(max(r.up_to), '-9223372036854775808'::bigint)
      from usage_rollups r where r.workspace_id = ${workspaceId})`;
}

/** Returns SQL that selects entries, whether they are in the sums by day or not. */
function entries(workspaceId: string, query: ReportQuery): RawBuilder<unknown> {
  const { range } = query;
  // The condition is on `time`, because the index is on `time`. It allows a day more at each end: a
  // local day begins at most 14 hours before and 12 hours after the same day in UTC.
  const times =
    range.kind === "times"
      ? sql`u.time >= ${range.from} and u.time < ${range.to}`
      : sql`u.time >= (${range.from}::date - 1)::timestamp at time zone 'UTC'
          and u.time < (${range.to}::date + 2)::timestamp at time zone 'UTC'`;
  return sql`${entry} where ${conditions(workspaceId, query)} and ${times}`;
}

const entry = sql`select u.day, u.time, u.agent_id, u.provider, u.model, u.principal, u.kind, u.tags,
    1::bigint as entries, ${columns("u", countColumns)}, coalesce(u.cost_micros, 0) as cost_micros,
    (u.cost_micros is null)::int::bigint as unknown_cost_entries,
    u.estimated::int::bigint as estimated_entries
  from usage_entries u`;

/** Returns the conditions on the columns that usage_entries and usage_days have in common. */
function conditions(
  workspaceId: string,
  { range, agentIds, model, caller, tag }: ReportQuery,
): RawBuilder<unknown> {
  return sql.join(
    [
      sql`u.workspace_id = ${workspaceId}`,
      ...(range.kind === "days"
        ? [sql`u.day between ${range.from}::date and ${range.to}::date`]
        : []),
      ...(agentIds === undefined ? [] : [sql`u.agent_id = any (${[...agentIds]}::text[])`]),
      ...(model === undefined ? [] : [sql`u.provider || '/' || u.model = ${model}`]),
      ...(caller === undefined ? [] : [sql`u.principal = ${caller}`]),
      ...(tag === undefined ? [] : [sql`${tag} = any (u.tags)`]),
    ],
    sql` and `,
  );
}

interface Key {
  readonly value: RawBuilder<unknown>;
  /** Returns SQL that converts a value to text. The texts have the same order as the values. */
  readonly text: (value: RawBuilder<unknown>) => RawBuilder<unknown>;
}

function keyOf(group: UsageGroup | undefined, { timeZone }: ReportQuery): Key {
  const unchanged = (value: RawBuilder<unknown>) => value;
  switch (group) {
    case "day":
      return { value: sql`u.day`, text: (day) => sql`to_char(${day}::timestamp, 'YYYY-MM-DD')` };
    case "hour":
      return {
        value: sql`date_trunc('hour', u.time, ${timeZone})`,
        text: (hour) => sql`to_char(${hour} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"')`,
      };
    case "agent":
      return { value: sql`u.agent_id`, text: unchanged };
    case "model":
      return { value: sql`u.provider || '/' || u.model`, text: unchanged };
    case "caller":
      return { value: sql`u.principal`, text: unchanged };
    case "metric":
      return {
        value: sql`case u.kind when 'model' then 'tokens' else u.kind || '_seconds' end`,
        text: unchanged,
      };
    case "tag":
      return { value: sql`t.tag`, text: unchanged };
    case undefined:
      return { value: sql`''::text`, text: unchanged };
  }
}

function columns(table: string, names: readonly string[] = summed): RawBuilder<unknown> {
  return sql.join(
    names.map((name) => sql.ref(`${table}.${name}`)),
    sql`, `,
  );
}

function sums(table: string): RawBuilder<unknown> {
  return sql.join(
    summed.map((name) => sql`coalesce(sum(${sql.ref(`${table}.${name}`)}), 0) as ${sql.ref(name)}`),
    sql`, `,
  );
}

function amountsOf(row: Row): UsageTotals {
  const cost = Number(row.cost_micros);
  const unknown = Number(row.unknown_cost_entries);
  return {
    entries: Number(row.entries),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cached_input_tokens: Number(row.cached_input_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    voice_ms: Number(row.voice_ms),
    browser_ms: Number(row.browser_ms),
    // If some costs are unknown and the known ones add up to 0, the sum is null. Failed calls have
    // the known cost 0, and the sum 0 would look as if the other calls had been free.
    cost_micros: cost === 0 && unknown > 0 ? null : cost,
    unknown_cost_entries: unknown,
    estimated_entries: Number(row.estimated_entries),
  };
}
