import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { insertWorkspaceEvents } from "../../events/index.ts";
import {
  calendarPeriodSql,
  crossedSql,
  currentPeriodSql,
  entryAmountSql,
  nextStartSql,
  presentPeriod,
  selectThresholds,
  startPeriod,
} from "../../reservations/index.ts";

/** Identifies a budget, which is a row of the table `budgets` that counts the use of a limit. */
export interface BudgetKey {
  readonly workspaceId: string;
  /** The id of the workspace for the kinds `plan` and `workspace`. */
  readonly scopeId: string;
  readonly scopeKind: "plan" | "workspace" | "agent" | "key" | "trigger";
  readonly metric: "cost" | "tokens" | "voice" | "browser";
}

/** A limit to store, in micro-dollars, tokens or milliseconds. null: unlimited. */
interface Limit {
  readonly allowed: number | null;
  /** Replaces `allowed` when the next period starts; undefined if `allowed` stays. */
  readonly nextAllowed?: number | null | undefined;
  readonly pausesAgent?: boolean;
}

/** A budget as `putBudgets` stores it. */
export type BudgetToPut = BudgetKey & Limit;

/**
 * A new budget, and what `addLaterEntries` needs to know of the entries that are counted already.
 */
export interface NewBudget extends BudgetKey {
  /** A number as text, like the next two fields, because their type is bigint. */
  readonly id: string;
  /** A transaction id. All transactions with lower ids had ended when `earlier` was read. */
  readonly horizon: string;
  /** The sum of the entries in the period whose transactions have ids below `horizon`. */
  readonly earlier: string;
  /** The start of the budget's period, as text in PostgreSQL's format. */
  readonly starts: string;
}

/** Returns SQL of a table `k` with one row for each budget. */
const rowsOf = (keys: readonly BudgetKey[]) =>
  sql`jsonb_to_recordset(${JSON.stringify(keys)}) as k ("workspaceId" text, "scopeId" text,
    "scopeKind" text, metric text, allowed bigint, "nextAllowed" bigint, "changesNext" boolean,
    "pausesAgent" boolean, id bigint, horizon bigint, earlier bigint, starts timestamptz)`;

const isOfKey = (table: string) =>
  sql.raw(`${table}.workspace_id = k."workspaceId" and ${table}.scope_id = k."scopeId"
    and ${table}.scope_kind = k."scopeKind" and ${table}.metric = k.metric`);

/** SQL condition that an entry `e` of the workspace counts in the period of a budget `b`. */
const isCounted = sql.raw(`e.time >= b.starts and e.time < b.ends
    and case b.scope_kind
      when 'agent' then e.agent_id = b.scope_id
      when 'key' then e.principal = 'key:' || b.scope_id
      when 'trigger' then e.trigger_id = b.scope_id
      else true end`);

const amountOfEntry = sql.raw(entryAmountSql("b", "e"));

/**
 * Locks the existing rows of these budgets until the transaction ends. A transaction that changes
 * several budgets must call this before it changes one: all transactions lock budgets in the same
 * order, so they do not deadlock.
 */
export async function lockBudgets(
  tx: WorkspaceTransaction,
  keys: readonly BudgetKey[],
): Promise<void> {
  await sql`select from budgets b join ${rowsOf(keys)} on ${isOfKey("b")}
    order by b.workspace_id, b.scope_id, b.scope_kind, b.metric for no key update of b`.execute(tx);
}

/**
 * Inserts or changes budgets. Inserts a new budget as `addBudgets` does. A changed budget keeps its
 * period, the amount spent and the amount reserved. If its period is over, it starts the next one.
 * If the amount spent reaches 50, 80 or 100 percent of a new or lowered limit, events are written.
 * The caller must have locked the existing rows with `lockBudgets`.
 * @returns the budgets that are new.
 */
export async function putBudgets(
  tx: WorkspaceTransaction,
  budgets: readonly BudgetToPut[],
): Promise<NewBudget[]> {
  if (budgets.length === 0) return [];
  const created = await insertBudgets(
    tx,
    budgets,
    sql`update set
  allowed = excluded.allowed,
  changes_next = excluded.changes_next,
  next_allowed = excluded.next_allowed,
  pauses_agent = excluded.pauses_agent,
  -- A raised or removed limit ends the pause that a rejected model call began.
  refused = budgets.refused and budgets.ends > now()
    and coalesce(excluded.allowed <= budgets.allowed, false),
  -- The highest of 50, 80 and 100 percent that was reached. A raised limit lowers it. A lowered
  -- limit raises it in writeThresholds, because each rise needs an event. A rejected model call has
  -- raised it to 100, although less is spent.
  crossed = case when budgets.ends <= now() then 0
    when budgets.refused and excluded.allowed <= budgets.allowed then budgets.crossed
    else least(budgets.crossed, ${sql.raw(crossedSql("budgets.spent", "excluded.allowed"))}) end,
  spent = case when budgets.ends <= now() then 0 else budgets.spent end,
  starts = case when budgets.ends <= now() then ${sql.raw(nextStartSql("budgets", "excluded"))}
    else budgets.starts end,
  ends = case when budgets.ends <= now() then excluded.ends else budgets.ends end`,
  );
  await writeThresholds(tx, budgets);
  return created;
}

/**
 * Inserts those of the budgets that do not exist. A new budget has the current period: the local
 * day of the workspace, or the month of its plan. If the plan already has a budget, the new budget
 * gets the same month. `spent` is the sum of the ledger's entries, without those of transactions
 * that are still open: `countSpent` corrects it later. To sum up a month can take seconds, so call
 * this before you lock budgets that charges wait for.
 * @returns the budgets that are new.
 */
export function addBudgets(
  tx: WorkspaceTransaction,
  budgets: readonly BudgetToPut[],
): Promise<NewBudget[]> {
  return insertBudgets(tx, budgets, sql`nothing`);
}

async function insertBudgets(
  tx: WorkspaceTransaction,
  budgets: readonly BudgetToPut[],
  onConflict: RawBuilder<unknown>,
): Promise<NewBudget[]> {
  const rows = budgets.map(({ nextAllowed, pausesAgent = false, ...rest }) => ({
    ...rest,
    nextAllowed: nextAllowed ?? null,
    changesNext: nextAllowed !== undefined,
    pausesAgent,
  }));
  const { rows: put } = await sql<BudgetKey & { isNew: boolean }>`
insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, changes_next, next_allowed,
  pauses_agent, starts, ends)
select w.id, k."scopeId", k."scopeKind", k.metric, k.allowed, k."changesNext", k."nextAllowed",
  k."pausesAgent", present.starts, present.ends
from ${rowsOf(rows)}
join workspaces w on w.id = k."workspaceId"
left join lateral (
  select b.starts, b.ends from budgets b
  where b.workspace_id = w.id and b.scope_id = w.id and b.scope_kind = 'plan'
    and k."scopeKind" = 'plan'
  order by b.ends desc limit 1
) as other on true
cross join lateral ${sql.raw(calendarPeriodSql('k."scopeKind"', "other", "w"))} as p
cross join lateral (select ${sql.raw(currentPeriodSql("other", "p"))}) as present
order by w.id, k."scopeId", k."scopeKind", k.metric
on conflict (workspace_id, scope_id, scope_kind, metric) do ${onConflict}
returning workspace_id as "workspaceId", scope_id as "scopeId", scope_kind as "scopeKind", metric,
  xmax = 0 as "isNew"`.execute(tx);
  const created: NewBudget[] = [];
  const byWorkspace = Map.groupBy(
    put.filter(({ isNew }) => isNew),
    ({ workspaceId }) => workspaceId,
  );
  // Each workspace has a statement of its own, because one statement that sums up the ledgers of
  // many workspaces could exceed the statement timeout.
  for (const keys of byWorkspace.values()) created.push(...(await sumSpent(tx, keys)));
  return created;
}

/**
 * Writes the events for the percentages that budgets have reached since the last such event. The
 * next charge would write them too, but there may be none: calls are rejected at a limit that is
 * spent.
 */
export async function writeThresholds(
  tx: WorkspaceTransaction,
  keys: readonly BudgetKey[],
): Promise<void> {
  const crossed = crossedSql("b.spent", "b.allowed");
  await sql`
with reached as materialized (
  select b.*, b.crossed as was_crossed, ${sql.raw(crossed)} as new_crossed, b.spent as new_spent,
    b.allowed as new_allowed, b.ends as new_ends
  from ${rowsOf(keys)} join budgets b on ${isOfKey("b")}
), written as (
  update budgets b set crossed = r.new_crossed from reached r
  where b.id = r.id and r.new_crossed > r.was_crossed
), thresholds as (${sql.raw(selectThresholds("reached"))}),
${sql.raw(insertWorkspaceEvents("thresholds"))} select`.execute(tx);
}

/**
 * Deletes budgets. The amounts reserved in them are no longer counted. The caller has locked the
 * rows.
 */
export async function deleteBudgets(
  tx: WorkspaceTransaction,
  keys: readonly BudgetKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await sql`delete from budgets b using ${rowsOf(keys)} where ${isOfKey("b")}`.execute(tx);
}

/**
 * Days of usage that one statement sums up. A busy workspace has millions of entries in a month,
 * and one statement for all of them could exceed the statement timeout.
 */
const daysPerSum = 7;

/**
 * Sets `spent` of new or corrected budgets of one workspace to the sum of the ledger's entries in
 * their period.
 */
async function sumSpent(
  tx: WorkspaceTransaction,
  keys: readonly BudgetKey[],
): Promise<NewBudget[]> {
  const { rows: budgets } = await sql<NewBudget & { days: number }>`
select b.workspace_id as "workspaceId", b.scope_id as "scopeId", b.scope_kind as "scopeKind",
  b.metric, b.id, pg_snapshot_xmin(pg_current_snapshot())::text as horizon, '0' as earlier,
  b.starts::text, ceil(extract(epoch from clock_timestamp() - b.starts) / 86400)::int as days
from ${rowsOf(keys)} join budgets b on ${isOfKey("b")}`.execute(tx);
  let created: readonly NewBudget[] = budgets;
  const days = Math.max(...budgets.map((budget) => budget.days));
  // The transactions below the horizon have ended, so all of these statements see all of their
  // entries.
  for (let day = 0; day < days; day += daysPerSum) {
    const { rows } = await sql<NewBudget>`
select b.workspace_id as "workspaceId", b.scope_id as "scopeId", b.scope_kind as "scopeKind",
  b.metric, b.id, k.horizon, (k.earlier + coalesce(sum(${amountOfEntry}), 0))::text as earlier,
  b.starts::text
from ${rowsOf(created)} join budgets b on ${isOfKey("b")}
left join usage_entries e on e.workspace_id = b.workspace_id and ${isCounted}
  and e.time >= b.starts + make_interval(hours => ${24 * day})
  and e.time < b.starts + make_interval(hours => ${24 * (day + daysPerSum)})
  and e.transaction < k.horizon
group by b.workspace_id, b.scope_id, b.scope_kind, b.metric, b.id, k.horizon, k.earlier, b.starts`.execute(
      tx,
    );
    created = rows;
  }
  await addLaterEntries(tx, created);
  return [...created];
}

/**
 * Sets `spent` of new budgets to the sum of the ledger's entries in their period. This sum is
 * `earlier` plus the entries of transactions whose ids are `horizon` or higher. The caller must
 * have locked the rows in an earlier statement. Transactions that have added to `spent` of these
 * rows have then committed, so the sum contains their entries. The sum lacks the entries of
 * transactions that are still open and do not see the budgets, because they began before the
 * budgets existed. A budget is not changed if its next period has begun meanwhile, or if it was
 * deleted and created again.
 */
export async function addLaterEntries(
  tx: WorkspaceTransaction,
  budgets: readonly NewBudget[],
): Promise<void> {
  const workspaceIds = [...new Set(budgets.map(({ workspaceId }) => workspaceId))];
  const horizon = Math.min(...budgets.map((budget) => Number(budget.horizon)));
  await sql`
with later as materialized (
  -- Materialized: in a join, PostgreSQL could use the index on time and read a whole month.
  select * from usage_entries e
  where e.workspace_id = any (${workspaceIds}::text[]) and e.transaction >= ${horizon}::bigint
), sums as (
  select b.id, k.earlier + coalesce(sum(${amountOfEntry}), 0)::bigint as spent
  from ${rowsOf(budgets)} join budgets b on ${isOfKey("b")} and b.id = k.id and b.starts = k.starts
  left join later e on e.workspace_id = b.workspace_id and e.transaction >= k.horizon
    and ${isCounted}
  group by b.id, k.earlier
)
update budgets b set spent = s.spent from sums s where b.id = s.id`.execute(tx);
}

/**
 * Begins the current period of those budgets of a workspace whose stored period is over. Call it
 * before you change the time zone of the workspace or the day on which its plan's months begin:
 * budgets that were not used since their reset are still stored with the previous period, and their
 * current period would change. It locks the workspace's row, and then all budgets of the workspace,
 * so that the caller can change any of them afterwards without a deadlock.
 */
export async function startDuePeriods(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<void> {
  await sql`select from workspaces where id = ${workspaceId} for no key update`.execute(tx);
  await sql`
select from budgets b where b.workspace_id = ${workspaceId}
order by b.workspace_id, b.scope_id, b.scope_kind, b.metric for no key update`.execute(tx);
  await sql`
update budgets b set ${sql.raw(startPeriod("b", "true", "n"))}, spent = 0, crossed = 0,
  refused = false
from (
  select b.id, ${sql.raw(presentPeriod("b", "starts"))} as starts,
    ${sql.raw(presentPeriod("b", "ends"))} as ends
  from budgets b where b.workspace_id = ${workspaceId} and b.ends <= now()
) n where b.id = n.id`.execute(tx);
}

/**
 * SQL condition that the period of a budget `b` was written while the database's clock was ahead:
 * when a period is written, it has begun. The hour is a margin, for a clock that is set by little.
 */
const isInFuture = sql`b.starts > now() + interval '1 hour'`;

/** Returns the ids of the workspaces with budgets whose period was written by a clock ahead. */
export async function findFuturePeriods(tx: WorkspaceTransaction): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct workspace_id as id from budgets b where ${isInFuture} order by 1`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Begins the current period of those budgets of a workspace whose period was written by a clock
 * ahead. `spent` becomes the sum of the ledger's entries in the period. If this amount reaches 50,
 * 80 or 100 percent of the limit, events are written, even if they were before the clock was ahead.
 */
export async function correctFuturePeriods(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<void> {
  await sql`
select from budgets b where b.workspace_id = ${workspaceId} and ${isInFuture}
order by b.workspace_id, b.scope_id, b.scope_kind, b.metric for no key update`.execute(tx);
  const { rows: corrected } = await sql<BudgetKey>`
update budgets b set starts = n.starts, ends = n.ends, spent = 0, crossed = 0, refused = false
from (
  select b.id, p.starts, p.ends from budgets b join workspaces w on w.id = b.workspace_id
  cross join (select null::timestamptz as ends) as none
  cross join lateral ${sql.raw(calendarPeriodSql("b.scope_kind", "none", "w"))} as p
  where b.workspace_id = ${workspaceId} and ${isInFuture}
) n where b.id = n.id
returning b.workspace_id as "workspaceId", b.scope_id as "scopeId", b.scope_kind as "scopeKind",
  b.metric`.execute(tx);
  // Another process can have corrected them.
  if (corrected.length === 0) return;
  await sumSpent(tx, corrected);
  await writeThresholds(tx, corrected);
}

/**
 * Returns the virtual ids of the other transactions of Beckon that are open on this database now.
 * Transactions of other programs, such as a backup, are left out, because they write no entries.
 */
export async function openTransactions(tx: WorkspaceTransaction): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select l.virtualtransaction as id
    from pg_stat_activity me
    join pg_stat_activity a on a.datid = me.datid and a.usesysid = me.usesysid
      and a.application_name = me.application_name and a.pid <> me.pid
    join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid' and l.granted
      and l.mode = 'ExclusiveLock'
    where me.pid = pg_backend_pid()`.execute(tx);
  return rows.map(({ id }) => id);
}
