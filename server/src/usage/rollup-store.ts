import { sql } from "kysely";
import type { Queryable, WorkspaceTransaction } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";
import { countColumns } from "./sum-entries.ts";

/**
 * Columns by which entries are summed up. A row of `usage_days` has these columns and `sums`.
 * Several rows can have the same values in these columns, because each roll-up adds new rows. Rows
 * with the same values are called a group, and are later merged into one row.
 */
const groupColumns = "day, agent_id, provider, model, principal, trigger_id, kind";
const sums = [
  "entries",
  ...countColumns,
  "cost_micros",
  "unknown_cost_entries",
  "standard_cost_micros",
  "unknown_standard_cost_entries",
  "estimated_entries",
];
const sumsOfEntries = [
  "count(*)",
  ...countColumns.map((count) => `sum(${count})`),
  "coalesce(sum(cost_micros), 0)",
  "count(*) filter (where cost_micros is null)",
  "coalesce(sum(standard_cost_micros), 0)",
  "count(*) filter (where standard_cost_micros is null)",
  "count(*) filter (where estimated)",
];
const insertDays = sql.raw(
  `insert into usage_days (workspace_id, ${groupColumns}, ${sums.join(", ")})`,
);

/** If a group of the current day has more rows than this, they are merged into one. */
const maxRowsOfGroup = 100;

/** Maximum number of groups that one transaction merges, so that it stays short. */
const maxGroups = 1_000;

/** SQL of the local date of a workspace `w`. */
const today = sql.raw("(now() at time zone w.time_zone)::date");

/**
 * Returns the ids of the workspaces that have entries to sum up, or a day that is over and whose
 * rows are not merged. An entry can be summed up once its transaction and all earlier ones have
 * ended: then no further entry with a lower transaction id can appear.
 */
export async function findDue(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: "find-due-rollups",
    // Without `order by`, PostgreSQL may use the index on the time of entries, and then reads
    // entries that are already summed up before it finds one that is not. "case" is used because,
    // with row-level security, PostgreSQL uses no index for a condition with "coalesce".
    text: `select w.id
      from workspaces w
      left join usage_rollups u on u.workspace_id = w.id
      left join lateral (
        select true as found from usage_entries e where e.workspace_id = w.id
          and e.transaction >= case when u.up_to is null then -9223372036854775808 else u.up_to end
          and e.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
        order by e.transaction limit 1
      ) entry on true
      left join lateral (
        select true as found from usage_days d
        where u.merged_before < (now() at time zone w.time_zone)::date
          and d.workspace_id = w.id and d.day >= u.merged_before limit 1
      ) day on true
      where entry.found or day.found`,
  });
  return rows.map(({ id }) => id);
}

/**
 * Makes PostgreSQL use indexes in this transaction. The statistics of the tables may be from a time
 * when the tables were small. With such statistics, PostgreSQL would scan all entries.
 */
export async function preferIndexes(tx: WorkspaceTransaction): Promise<void> {
  await sql`select set_config(name, 'off', true)
    from unnest(array['enable_seqscan', 'enable_bitmapscan', 'enable_mergejoin']) as name`.execute(
    tx,
  );
}

/** How far a workspace's entries are summed up, and how far the sums are merged. */
interface Progress {
  /** Entries whose transaction id is lower are summed up. */
  readonly upTo: string;
  /** Date in the form YYYY-MM-DD. The rows of all earlier days are merged. */
  readonly mergedBefore: string;
}

/**
 * Locks the progress of the workspace until the transaction ends. Returns undefined if another
 * process has locked it, because that process sums up the entries.
 */
export async function lockProgress(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<Progress | undefined> {
  const locked = sql<Progress>`select up_to as "upTo", merged_before::text as "mergedBefore"
    from usage_rollups where workspace_id = ${workspaceId} for update skip locked`;
  const { rows: found } = await locked.execute(tx);
  if (found[0] !== undefined) return found[0];
  await sql`insert into usage_rollups (workspace_id, up_to, merged_before)
    select w.id,
      coalesce((select min(e.transaction) from usage_entries e where e.workspace_id = w.id), 0),
      ${today}
    from workspaces w where w.id = ${workspaceId} on conflict do nothing`.execute(tx);
  return (await locked.execute(tx)).rows[0];
}

/**
 * Adds rows with the sums of up to `maxEntries` entries. If the transaction that wrote the last one
 * of them also wrote further entries, those are included too. The caller has locked the progress.
 * @returns the number of entries, and their days in the form YYYY-MM-DD.
 */
export async function addDays(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { upTo }: Progress,
  maxEntries: number,
): Promise<{ readonly entries: number; readonly days: readonly string[] }> {
  const { rows } = await sql<{ entries: number; days: string[] }>`
with taken as materialized (
  select * from usage_entries
  where workspace_id = ${workspaceId} and transaction >= ${upTo}::bigint
    and transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  order by transaction fetch first ${sql.lit(maxEntries)} rows with ties
), added as (
  ${insertDays}
  select workspace_id, ${sql.raw(groupColumns)}, ${sql.raw(sumsOfEntries.join(", "))} from taken
  group by workspace_id, ${sql.raw(groupColumns)}
), moved as (
  update usage_rollups set up_to = (select max(transaction) + 1 from taken)
  where workspace_id = ${workspaceId} and exists (select from taken)
)
select count(*)::int as entries, coalesce(array_agg(distinct day::text), '{}') as days
from taken`.execute(tx);
  return rows[0] ?? { entries: 0, days: [] };
}

/**
 * Merges the rows of each group into one row. Groups of a day that is not over are merged only if
 * they have more than `maxRowsOfGroup` rows. The caller has locked the progress.
 * @param days days to which rows were added. Their rows are merged even if the days are before
 *   `mergedBefore`.
 * @returns whether there are more rows to merge.
 */
export async function mergeDays(
  tx: WorkspaceTransaction,
  workspaceId: string,
  { mergedBefore }: Progress,
  days: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ groups: number }>`
with due as materialized (
  select array_agg(d.id) as ids from workspaces w, (
    select * from usage_days where workspace_id = ${workspaceId} and day >= ${mergedBefore}::date
    union all
    -- The two queries are not combined by "or", because PostgreSQL would then read the rows of all
    -- days.
    select d.* from unnest(${days}::date[]) as late (day), lateral (
      select * from usage_days where workspace_id = ${workspaceId} and day = late.day offset 0
    ) as d where late.day < ${mergedBefore}::date
  ) as d
  where w.id = ${workspaceId}
  group by ${sql.raw(groupColumns)}, w.time_zone
  having count(*) > case when d.day < ${today} then 1 else ${sql.lit(maxRowsOfGroup)} end
  limit ${sql.lit(maxGroups)}
), merged as (
  -- The rows are found by id and not by a join with due: with old statistics, PostgreSQL would read
  -- the rows of all days for each group.
  delete from usage_days d
  where d.id = any (array(select unnest(ids) from due)) and d.workspace_id = ${workspaceId}
  returning d.*
), added as (
  ${insertDays}
  select workspace_id, ${sql.raw(groupColumns)}, ${sql.raw(sums.map((sum) => `sum(${sum})`).join(", "))}
  from merged group by workspace_id, ${sql.raw(groupColumns)}
), moved as (
  update usage_rollups u set merged_before = until.day
  from workspaces w cross join lateral (
    -- The next call reads the days from merged_before on. If rows are left to merge, merged_before
    -- must therefore not be after any of the late days. It also moves back if the local date is
    -- earlier than before, because the workspace has another time zone.
    select case when (select count(*) from due) < ${sql.lit(maxGroups)} then ${today}
      else least(${mergedBefore}::date,
        (select min(late.day) from unnest(${days}::date[]) as late (day))) end as day
  ) as until
  where u.workspace_id = ${workspaceId} and w.id = ${workspaceId} and u.merged_before <> until.day
)
select count(*)::int as groups from due`.execute(tx);
  return (rows[0]?.groups ?? 0) >= maxGroups;
}

/**
 * Makes the transaction ids of all entries negative if the database was restored to a cluster that
 * has not reached these ids yet. Otherwise new entries would have lower ids than the old ones, and
 * would seem to be summed up already. The old entries keep their order, and the record of which of
 * them are summed up stays correct.
 *
 * @param client a connection that can read all workspaces. The caller holds the migration lock.
 */
export async function renumberEntries(client: Queryable, log: Log): Promise<void> {
  const { rows } = await client.query<{ highest: string }>(
    `select max(transaction) as highest from (
        select last.transaction from workspaces w, lateral (
          select e.transaction from usage_entries e where e.workspace_id = w.id
          order by e.transaction desc limit 1
        ) as last
        -- The entries with the highest ids may have been deleted since they were summed up.
        union all select up_to - 1 from usage_rollups
      ) as used
      having max(transaction) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
  );
  const highest = rows[0]?.highest;
  if (highest === undefined) return;
  log.write("rows get lower transaction ids, which takes time in proportion to their number", {
    tables: ["usage_entries"],
  });
  await client.query("begin");
  await client.query("update usage_entries set transaction = transaction - $1 - 1", [highest]);
  await client.query("update usage_rollups set up_to = up_to - $1 - 1", [highest]);
  await client.query("commit");
}
