import { type Database, statement } from "../base/database/index.ts";
import { areReportedAtRelease, journalLetters } from "../base/journal/index.ts";
import { crossedSql, entryAmountSql, heldAmountSql } from "./budget.ts";
import { presentPeriod, scopeIds, startPeriod, waiterTimeoutSeconds } from "./reserve-statement.ts";
import { selectThresholds } from "./thresholds.ts";

/**
 * SQL expressions for what a metered call `c` used, and for what a reservation `v` holds, in the
 * unit of a budget `b`.
 */
const amountOfCall = entryAmountSql("b", "c");
const amountHeld = heldAmountSql("b", "v");

/**
 * Returns SQL that adds metered calls to the budgets that apply to their runs, and returns to these
 * budgets what the runs had reserved. It must be part of the statement that writes the calls to the
 * usage ledger, so that ledger and budgets always agree. When a budget reaches 50, 80 or 100
 * percent, the SQL also writes one event for each of these percentages.
 *
 * @param runs name of a common table expression with the columns run_id, workspace_id, agent_id,
 *   principal and trigger_id: the runs whose reservations end. The statement must have updated the
 *   row of each run, which locks it.
 * @param calls name of a common table expression with the columns workspace_id, agent_id,
 *   principal, trigger_id, input_tokens, output_tokens, voice_ms, browser_ms, cost_micros,
 *   standard_cost_micros: metered calls of these runs.
 * @param insertWorkspaceEvents returns SQL that inserts events from the rows of `source`.
 * @param inserted names of common table expressions that are executed before budgets are locked,
 *   because they can take long. Default: none.
 * @returns common table expressions, one of which is `charged_budgets`.
 */
export function chargeBudgets(
  runs: string,
  calls: string,
  insertWorkspaceEvents: (source: string) => string,
  inserted: readonly string[] = [],
): string {
  return `settled_runs as materialized (
  select s.run_id, s.workspace_id, ${scopeIds("s")} as scope_ids
  from ${runs} s
), locked_budgets as materialized (
  -- A query that locks rows returns each row as it is once it is locked, not as in the statement's
  -- snapshot.
  select b.*, b.ends <= now() as is_over from budgets b
  where b.workspace_id = any (array(select workspace_id from settled_runs))
    and b.scope_id = any (array(select unnest(scope_ids) from settled_runs))${inserted
      .map((table) => `\n    and (select count(*) from ${table}) >= 0`)
      .join("")}
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), settled as (
  delete from reservations v using settled_runs s
  -- An array of one element rules out a hash join, for which PostgreSQL may read the whole table.
  -- An array of all ids would rule it out too, but would be sorted again for each run.
  where v.run_id = any (array[s.run_id]) and v.workspace_id = any (array[s.workspace_id])
    -- The count makes this statement lock budgets before reservations, as all other statements do,
    -- so that transactions do not deadlock.
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), charged_calls as materialized (
  select c.*, ${scopeIds("c")} as scope_ids from ${calls} c
), spent_in as materialized (
  -- The time of the entries is now(), when this transaction began. If another transaction has
  -- started the next period of a budget since, the entries belong to the previous period and are
  -- not added. A period that begins after the present time was started by a clock that was ahead.
  -- Entries are added to it, because the limit would not count any before it begins.
  select b.id, sum(${amountOfCall}) as amount
  from charged_calls c join locked_budgets b
    on b.workspace_id = c.workspace_id and b.scope_id = any (c.scope_ids)
    and (now() >= b.starts or clock_timestamp() < b.starts)
  group by b.id
), returned_to as materialized (
  select b.id, sum(${amountHeld}) as amount
  from settled v join locked_budgets b on b.id = any (v.held_in) group by b.id
), charged_budgets as materialized (
  select b.*,
    case when b.is_over then ${presentPeriod("b", "starts")} end as next_starts,
    case when b.is_over then ${presentPeriod("b", "ends")} end as next_ends,
    case when b.is_over and b.changes_next then b.next_allowed else b.allowed end as new_allowed,
    case when b.is_over then 0 else b.spent end
      + coalesce((select s.amount from spent_in s where s.id = b.id), 0) as new_spent,
    coalesce((select r.amount from returned_to r where r.id = b.id), 0) as returned
  from locked_budgets b
), reached as materialized (
  select c.*, coalesce(c.next_ends, c.ends) as new_ends,
    case when c.is_over then 0 else c.crossed end as was_crossed,
    greatest(case when c.is_over then 0 else c.crossed end,
      ${crossedSql("c.new_spent", "c.new_allowed")}) as new_crossed
  from charged_budgets c
  where c.is_over or c.returned > 0 or c.new_spent > c.spent
), written_budgets as (
  update budgets b set spent = c.new_spent, reserved = greatest(0, b.reserved - c.returned),
    ${startPeriod("b", "c.is_over", "n")}, refused = b.refused and not c.is_over,
    crossed = c.new_crossed
  from reached c cross join lateral (select c.next_starts as starts, c.next_ends as ends) n
  where b.id = c.id and b.id = any (array(select id from reached))
), thresholds as (${selectThresholds("reached")}), ${insertWorkspaceEvents("thresholds")}`;
}

/**
 * SQL expression for the ids of the workspaces of `charged_budgets` in which runs may wait for
 * returned amounts, as a JSON array; null if there is none.
 */
export const workspacesToWake = `(select json_agg(distinct workspace_id) from charged_budgets
  where waiter_seen_at > now() - interval '${waiterTimeoutSeconds} seconds')`;

/** Maximum number of reservations that one sweep returns. */
const maxReturned = 500;

const sweepStatement = statement<void>(
  "return-reservations",
  () => `
with stale as materialized (
  select v.* from reservations v
  left join lateral (
    select * from runs r where r.id = v.run_id and r.workspace_id = v.workspace_id limit 1
  ) r on true
  where r.id is null or r.finished_at is not null
    -- A stopping process has released the run, and the journal reports all calls: the next claim
    -- will find so too.
    or (r.status = 'queued' and v.state = 'held' and ${areReportedAtRelease(`(
      select ${journalLetters("e")}
      from events e where e.run_id = r.id
    )`)})
  order by v.run_id limit ${maxReturned}
), locked_budgets as materialized (
  select b.* from budgets b where b.id = any (array(select unnest(held_in) from stale))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), gone as (
  delete from reservations v using stale s
  where v.run_id = s.run_id and v.workspace_id = s.workspace_id
    and v.run_id = any (array(select run_id from stale))
    -- A queued run can be claimed and reserve again before this statement locks its row.
    and v.seen_at = s.seen_at
    and (select count(*) from locked_budgets) >= 0
  returning v.*
), returned as materialized (
  select b.id, sum(${amountHeld}) as amount
  from locked_budgets b join gone v on b.id = any (v.held_in) group by b.id
), written_budgets as (
  update budgets b set reserved = greatest(0, b.reserved - r.amount)
  from returned r where b.id = r.id and b.id = any (array(select id from returned))
)
select json_agg(distinct workspace_id) as workspaces from gone`,
);

/**
 * Returns to the budgets what is still held by runs that have ended or were deleted, and by runs
 * that were released to the queue and whose journal reports all their calls. The statement that
 * ends a run usually does this itself. It does not if a reservation is written later, for example
 * by a process that hung while another one took the run over and ended it.
 * One call returns at most `maxReturned` reservations.
 * @returns the ids of the workspaces of these runs.
 */
export async function returnReservations(database: Database): Promise<readonly string[]> {
  const { rows } = await database.engine.query<{ workspaces: string[] | null }>(
    sweepStatement.query(),
  );
  return rows[0]?.workspaces ?? [];
}

/** The statement that returns what ended runs still hold, for `runs/statements.sql`. */
export const returnStatements = [sweepStatement];
