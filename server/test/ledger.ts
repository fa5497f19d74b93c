import type { Pool, QueryResult } from "pg";
import type { Database } from "../src/base/database/index.ts";
import { rollUp } from "../src/usage/index.ts";
import { eventually } from "./eventually.ts";

type Queryable = Pick<Pool, "query">;

/** Columns that entries, events, results and sums by day have in common. */
const counts = [
  "input_tokens",
  "output_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "reasoning_tokens",
];

const sumsOfEntries = [
  ...counts.map((count) => `sum(${count}) as ${count}`),
  "case when count(cost_micros) = count(*) then sum(cost_micros) end as cost_micros",
  "bool_or(estimated) as estimated",
].join(", ");

/** Returns an SQL condition that is true if two rows differ in their token counts or their cost. */
const differ = (left: string, right: string) =>
  `(${[...counts, "cost_micros"].map((column) => `coalesce(${left}.${column}, -1)`).join(", ")}) is distinct from
    (${[...counts, "cost_micros"].map((column) => `coalesce(${right}.${column}, -1)`).join(", ")})`;

/** SQL row with the sums of a run that has no entries. */
const none = `(select ${counts.map((count) => `0::numeric as ${count}`).join(", ")},
  0::numeric as cost_micros, false as estimated)`;

/**
 * Returns what is wrong with the usage ledger, one line for each violation of these rules:
 * - each event `run.step` or `run.step_lost` has entries, whose sums are its usage and its cost;
 * - each entry belongs to such an event or to the end of its run, unless the run was deleted;
 * - the usage and the cost of an ended run are the sums of its entries;
 * - the sums by day, plus the entries that are not in them yet, are the sums of all entries.
 */
export async function wrongWithLedger(database: Queryable): Promise<string[]> {
  // Nested loops are disabled, because with them the time would grow with the square of the number
  // of runs. PostgreSQL would use them, because Beckon's connections disable merge joins and
  // sequential scans (`pointLookups` in connect.ts). A query of several statements is one
  // transaction, so `set local` applies to all of it. The query has one result for each statement.
  const results = (await database.query(`
set local enable_nestloop = off;
with by_event as (
  select run_id, seq, ${sumsOfEntries} from usage_entries group by run_id, seq
), by_run as (
  select run_id, ${sumsOfEntries} from usage_entries group by run_id
), events_whole as (
  select e.run_id, e.seq, e.type, coalesce(convert_from(a.content, 'UTF8')::jsonb, e.data) as data
  from events e left join artifacts a on a.id = e.data ->> 'artifact_id'
), steps as (
  select run_id, seq, type, (data ->> 'cost_micros')::bigint as cost_micros,
    coalesce((data -> 'usage' ->> 'estimated')::boolean, false) as estimated,
    ${counts.map((count) => `coalesce((data -> 'usage' ->> '${count}')::bigint, 0) as ${count}`).join(", ")}
  from events_whole where type in ('run.step', 'run.step_lost')
), tail as (
  select e.* from usage_entries e left join usage_rollups u on u.workspace_id = e.workspace_id
  where u.up_to is null or e.transaction >= u.up_to
), days as (
  select workspace_id, day, agent_id, provider, model, principal, trigger_id, kind, entries,
    ${counts.join(", ")}, cost_micros, unknown_cost_entries, estimated_entries
  from usage_days
  union all
  select workspace_id, day, agent_id, provider, model, principal, trigger_id, kind, 1,
    ${counts.join(", ")}, coalesce(cost_micros, 0), (cost_micros is null)::int, estimated::int
  from tail
), summed as (
  select workspace_id, day, agent_id, provider, model, principal, trigger_id, kind,
    sum(entries) as entries, ${counts.map((count) => `sum(${count}) as ${count}`).join(", ")},
    sum(cost_micros) as cost_micros, sum(unknown_cost_entries) as unknown,
    sum(estimated_entries) as estimated
  from days group by 1, 2, 3, 4, 5, 6, 7, 8
), expected as (
  select workspace_id, day, agent_id, provider, model, principal, trigger_id, kind,
    count(*)::numeric as entries, ${counts.map((count) => `sum(${count}) as ${count}`).join(", ")},
    coalesce(sum(cost_micros), 0) as cost_micros,
    (count(*) filter (where cost_micros is null))::numeric as unknown,
    (count(*) filter (where estimated))::numeric as estimated
  from usage_entries group by 1, 2, 3, 4, 5, 6, 7, 8
)
select format('%s, event %s: its %s is not the sum of its entries: %s, %s', s.run_id, s.seq, s.type,
  to_jsonb(s), to_jsonb(b)) as wrong
from steps s left join by_event b using (run_id, seq)
where b.run_id is null or s.estimated <> b.estimated or ${differ("s", "b")}
union all
select format('%s, event %s: it has entries, and is a %s', b.run_id, b.seq, e.type)
from by_event b join runs r on r.id = b.run_id left join events e using (run_id, seq)
where e.type is null or e.type not in
  ('run.step', 'run.step_lost', 'run.finished', 'run.failed', 'run.cancelled')
union all
select format('%s: its result is not the sum of its entries: %s, %s', r.run_id, to_jsonb(r),
  to_jsonb(b))
from run_results r left join by_run u using (run_id) cross join ${none} as none
  cross join lateral (select ${[...counts, "cost_micros"]
    .map(
      (column) =>
        `case when u.run_id is null then none.${column} else u.${column} end as ${column}`,
    )
    .join(", ")}, coalesce(u.estimated, false) as estimated) as b
where (b.estimated and not r.usage_estimated) or ${differ("r", "b")}
union all
select format('sums by day differ: %s is not %s', to_jsonb(s), to_jsonb(e))
from summed s full join expected e on to_jsonb(s) = to_jsonb(e)
where s.workspace_id is null or e.workspace_id is null`)) as unknown as QueryResult<{
    wrong: string;
  }>[];
  return results.flatMap(({ rows }) => rows.map(({ wrong }) => wrong));
}

/** Returns the ledger entries of a run, without their run id, time and transaction id. */
export async function entriesOf(
  database: Queryable,
  runId: string,
): Promise<Record<string, unknown>[]> {
  const { rows } = await database.query<{ entry: Record<string, unknown> }>(
    `select to_jsonb(e) - 'transaction' - 'time' - 'run_id' as entry from usage_entries e
      where run_id = $1 order by seq, number`,
    [runId],
  );
  return rows.map(({ entry }) => entry);
}

/**
 * Sums up all entries of the ledger by day. While a transaction is open in any database of the
 * PostgreSQL server, `rollUp` leaves out the entries of later transactions. It is therefore
 * repeated until it has summed up all entries.
 */
export async function rollUpAll(database: Database): Promise<void> {
  await eventually("a roll-up of all entries", async () => {
    await rollUp(database);
    const { rows } = await database.engine.query(
      `select from usage_entries e left join usage_rollups u on u.workspace_id = e.workspace_id
        where u.up_to is null or e.transaction >= u.up_to limit 1`,
    );
    return rows.length === 0 || undefined;
  });
}
