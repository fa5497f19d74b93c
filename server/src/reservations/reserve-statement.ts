import type { LimitMetric } from "@beckon/contract";
import {
  type Database,
  inTransaction,
  type Parameters,
  type RowsTable,
  statement,
  timeText,
} from "../base/database/index.ts";
import { type Amounts, type Budget, calendarPeriodSql, nextStartSql } from "./budget.ts";
import type { ReachedStatement } from "./thresholds.ts";

/**
 * SQL of an array with the ids of the scopes that apply to a run: its workspace, agent, key and
 * trigger. The id of the workspace is also the scope of its plan. If the run has no key or no
 * trigger, that element is null.
 */
export const scopeIds = (run: string) => `array[${run}.workspace_id, ${run}.agent_id,
    case when ${run}.principal like 'key:%' then substr(${run}.principal, 5) end, ${run}.trigger_id]`;

/** The claim with which a process asks for a run's reservation. */
export interface RunClaim {
  readonly runId: string;
  readonly owner: string;
  readonly fence: number;
}

/**
 * Returns SQL of the common table expression `runs_to_limit`: the asking runs whose claims are
 * valid, with the columns that determine their scopes. It leaves out the runs of former owners: a
 * request that arrives late must not replace what the present owner has reserved. It also leaves
 * out the runs of owners that were declared dead: the next owner reads whether the run waited.
 * @param claims the claims, with the columns run_id, owner and fence.
 */
export const runsToLimit = (claims: RowsTable) => `runs_to_limit as materialized (
  select r.id as run_id, r.workspace_id, r.fence, r.agent_id, i.principal, i.trigger_id
  from unnest(${["run_id", "owner", "fence"].map(claims.column).join(", ")}) as asked (id, owner, fence)
  cross join lateral (select * from runs r where r.id = asked.id limit 1) r
  cross join lateral (
    select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
  ) i
  where r.status = 'running' and r.owner = asked.owner and r.fence = asked.fence
    and r.owner = any (array(select p.id from processes p where p.died_at is null))
)`;

const claimsOf = (p: Parameters<readonly RunClaim[]>) =>
  p.rows("asked", (claims) => claims, {
    run_id: ["text", ({ runId }) => runId],
    owner: ["text", ({ owner }) => owner],
    fence: ["int", ({ fence }) => fence],
  });

/** A budget that this transaction has locked, with its values for the current period. */
export interface LockedBudget extends Budget {
  readonly workspaceId: string;
  /** See `ReserveInput`. */
  readonly hasRejected: boolean;
}

interface BudgetRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly scope_id: string;
  readonly scope_kind: Budget["scope"];
  readonly metric: LimitMetric;
  readonly allowed: string | null;
  readonly spent: string;
  readonly reserved: string;
  readonly ends: Date;
  readonly refused: boolean;
}

/**
 * Locks the budgets that apply to some runs, and returns them. All statements lock budgets in the
 * order of the primary key, so that they do not deadlock. If the period of a budget is over, the
 * returned row is that of the next period; `writeStatement` stores it later.
 */
const lockStatement = statement<readonly RunClaim[]>(
  "reserve-lock",
  (p) => `
with ${runsToLimit(claimsOf(p))}
select b.id, b.workspace_id, b.scope_id, b.scope_kind, b.metric, b.reserved,
  case when b.ends > now() or not b.changes_next then b.allowed else b.next_allowed end as allowed,
  case when b.ends > now() then b.spent else 0 end as spent,
  b.refused and b.ends > now() as refused,
  case when b.ends > now() then b.ends else ${presentPeriod("b", "ends")} end as ends
from budgets b
where b.workspace_id = any (array(select workspace_id from runs_to_limit))
  and b.scope_id = any (array(select unnest(${scopeIds("r")}) from runs_to_limit r))
order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
for no key update of b`,
);

/**
 * Returns SQL that computes the start or end of the current period of a budget whose stored period
 * is over. It takes half a millisecond, so use it in a `case` that skips it for all other budgets.
 */
export function presentPeriod(budget: string, bound: "starts" | "ends"): string {
  return `(select ${bound === "starts" ? nextStartSql(budget, "p") : "p.ends"}
    from workspaces w, ${calendarPeriodSql(`${budget}.scope_kind`, budget, "w")} as p
    where w.id = ${budget}.workspace_id)`;
}

function toBudget(row: BudgetRow): LockedBudget {
  return {
    id: Number(row.id),
    workspaceId: row.workspace_id,
    scope: row.scope_kind,
    scopeId: row.scope_id,
    metric: row.metric,
    allowed: row.allowed === null ? null : Number(row.allowed),
    spent: Number(row.spent),
    reserved: Number(row.reserved),
    resetsAt: row.ends.toISOString(),
    hasRejected: row.refused,
  };
}

/** Seconds for which a waiting run keeps its position in the queue after it last asked. */
export const waiterTimeoutSeconds = 15;

/**
 * Returns an SQL expression for the limit for which a run waits, in the form of `LimitWaitedFor`;
 * null if it waits for none. If it waits for several limits, this is the first one.
 * @param run alias of the run's row.
 */
export const waitedForSql = (run: string) => `(
    select json_build_object('scope', b.scope_kind, 'scope_id', b.scope_id, 'metric', b.metric,
      'used', b.spent, 'reserved', b.reserved, 'limit', b.allowed, 'resets_at', ${timeText("b.ends")})
    from reservations v join budgets b
      on b.id = (v.asked -> 'blocked_at' ->> 0)::bigint and b.workspace_id = v.workspace_id
    where v.run_id = ${run}.id and v.workspace_id = ${run}.workspace_id and v.state = 'waiting'
      and v.seen_at > clock_timestamp() - interval '${waiterTimeoutSeconds} seconds'
      and b.allowed is not null and ${run}.status = 'running'
  )`;

/**
 * Maximum number of waiting runs that a decision considers in each workspace: those that began to
 * wait first.
 */
const maxWaiting = 500;

interface ReservationRow {
  readonly run_id: string;
  readonly workspace_id: string;
  readonly scope_ids: readonly (string | null)[];
  /** The fence of a run that asks now; null for another run that waits. */
  readonly fence: number | null;
  /** Whether the workspace has any limit. */
  readonly is_limited: boolean;
  readonly state: "held" | "waiting" | null;
  readonly asked_at: string | null;
  readonly asked: (AmountColumns<number> & { readonly blocked_at: readonly number[] }) | null;
  readonly held: AmountColumns<number> | null;
  readonly held_in: readonly string[] | null;
}

interface AmountColumns<T> {
  readonly cost_micros: T | null;
  readonly plan_cost_micros: T | null;
  readonly tokens: T;
  readonly voice_ms: T;
  readonly browser_ms: T;
}

/**
 * Reads the scopes and reservations of the runs that ask for a reservation now, and of other runs
 * of the same workspaces that wait for one. It must be sent after `lockStatement` in the same
 * transaction: while the budgets are locked, no other transaction changes what runs hold in them.
 * Its snapshot is newer than the lock, so it sees each claim whose owner has reserved something.
 */
const readStatement = statement<readonly RunClaim[]>("reserve-read", (p) => {
  const columns = `v.state, (extract(epoch from v.asked_at) * 1000000)::bigint as asked_at, v.asked,
  case when v.run_id is not null then json_build_object('cost_micros', v.cost_micros,
    'plan_cost_micros', v.plan_cost_micros, 'tokens', v.tokens, 'voice_ms', v.voice_ms,
    'browser_ms', v.browser_ms) end as held, v.held_in`;
  return `
with ${runsToLimit(claimsOf(p))}
select r.run_id, r.workspace_id, ${scopeIds("r")} as scope_ids, r.fence,
  exists (select from budgets b where b.workspace_id = r.workspace_id) as is_limited, ${columns}
from runs_to_limit r
left join lateral (
  select * from reservations v where v.run_id = r.run_id and v.workspace_id = r.workspace_id limit 1
) v on true
union all
select v.run_id, v.workspace_id, ${scopeIds("v")}, null, true, ${columns}
from (select distinct workspace_id from runs_to_limit) as w
cross join lateral (
  select * from reservations v
  where v.workspace_id = w.workspace_id and v.state = 'waiting'
    and v.seen_at > clock_timestamp() - interval '${waiterTimeoutSeconds} seconds'
    and v.run_id <> all (array(select run_id from runs_to_limit))
  order by v.asked_at limit ${maxWaiting}
) v`;
});

/** A run with its scopes, and what it holds or waits for. */
export interface StoredReservation {
  readonly runId: string;
  readonly workspaceId: string;
  readonly scopeIds: ReadonlySet<string>;
  /** The fence of a run that asks now; undefined for another run that waits. */
  readonly fence: number | undefined;
  /** Whether its workspace has any limit. */
  readonly isLimited: boolean;
  readonly askedAt: number | undefined;
  readonly asked: Amounts | undefined;
  readonly blockedAt: readonly number[];
  readonly held: { readonly amounts: Amounts; readonly in: readonly number[] } | undefined;
}

function toReservation(row: ReservationRow): StoredReservation {
  return {
    runId: row.run_id,
    workspaceId: row.workspace_id,
    scopeIds: new Set(row.scope_ids.filter((id) => id !== null)),
    fence: row.fence ?? undefined,
    isLimited: row.is_limited,
    askedAt: row.asked_at === null ? undefined : Number(row.asked_at),
    asked: row.asked === null ? undefined : toAmounts(row.asked),
    blockedAt: row.asked?.blocked_at ?? [],
    held:
      row.held === null
        ? undefined
        : { amounts: toAmounts(row.held), in: (row.held_in ?? []).map(Number) },
  };
}

function toAmounts(columns: AmountColumns<number>): Amounts {
  return {
    costMicros: columns.cost_micros,
    planCostMicros: columns.plan_cost_micros,
    tokens: columns.tokens,
    voiceMs: columns.voice_ms,
    browserMs: columns.browser_ms,
  };
}

/** A reservation to write. */
export interface WrittenReservation {
  readonly runId: string;
  readonly state: "held" | "waiting";
  readonly amounts: Amounts;
  readonly heldIn: readonly number[];
  /**
   * What a waiting run asks for, and the budgets in which it does not fit; undefined if the run
   * does not wait.
   */
  readonly asked: { readonly amounts: Amounts; readonly blockedAt: readonly number[] } | undefined;
}

/** What to write after the decisions of one transaction. */
export interface ReserveInput {
  readonly budgets: readonly {
    readonly id: number;
    readonly reserved: number;
    /**
     * Whether a request for a reservation was rejected because too little is left of the budget
     * even for a small call (`isUsedUp` in fit.ts), now or earlier in the period. A ceiling with
     * `pauses_agent` then pauses its agent. A request that was rejected only because it is large
     * does not count.
     */
    readonly hasRejected: boolean;
    /** Whether a run waits until a reserved amount of the budget is returned. */
    readonly hasWaiter: boolean;
  }[];
  /** Ids of the budgets whose `hasRejected` becomes true. */
  readonly reached: readonly number[];
  readonly reservations: readonly WrittenReservation[];
}

/**
 * Writes the decisions. Budgets whose period is over begin the next period. It must be sent in the
 * transaction that has locked the budgets.
 */
const writeStatement = statement<ReserveInput>("reserve-write", (p) => {
  const budgets = p.rows("c", (input) => input.budgets, {
    id: ["bigint", (row) => row.id],
    reserved: ["bigint", (row) => row.reserved],
    refused: ["boolean", (row) => row.hasRejected],
    has_waiter: ["boolean", (row) => row.hasWaiter],
  });
  const reservations = p.rows("v", (input) => input.reservations, {
    run_id: ["text", (row) => row.runId],
    state: ["text", (row) => row.state],
    cost_micros: ["bigint", ({ amounts }) => amounts.costMicros],
    plan_cost_micros: ["bigint", ({ amounts }) => amounts.planCostMicros],
    tokens: ["bigint", ({ amounts }) => amounts.tokens],
    voice_ms: ["bigint", ({ amounts }) => amounts.voiceMs],
    browser_ms: ["bigint", ({ amounts }) => amounts.browserMs],
    held_in: ["text", (row) => `{${row.heldIn.join(",")}}`],
    asked: ["text", ({ asked }) => (asked === undefined ? null : askedJson(asked))],
  });
  return `
with changed as materialized (
  select c.*, b.ends <= now() as is_over,
    case when b.ends <= now() then ${presentPeriod("b", "starts")} end as starts,
    case when b.ends <= now() then ${presentPeriod("b", "ends")} end as ends
  from ${budgets.table}
  cross join lateral (select * from budgets b where b.id = c.id limit 1) b
), written_budgets as (
  update budgets b set reserved = c.reserved, ${startPeriod("b", "c.is_over", "c")},
    refused = (b.refused and not c.is_over) or c.refused,
    waiter_seen_at = case when c.has_waiter then clock_timestamp() else b.waiter_seen_at end,
    spent = case when c.is_over then 0 else b.spent end,
    crossed = case when c.is_over then 0 else b.crossed end
  from changed c where b.id = c.id and b.id = any (array(select id from changed))
)
insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state, asked,
  cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
select v.run_id, r.workspace_id, r.agent_id, i.principal, i.trigger_id, v.state, v.asked::jsonb,
  v.cost_micros, v.plan_cost_micros, v.tokens, v.voice_ms, v.browser_ms, v.held_in::bigint[]
from ${reservations.table}
cross join lateral (select * from runs r where r.id = v.run_id limit 1) r
cross join lateral (
  select * from run_inputs i where i.run_id = r.id and i.workspace_id = r.workspace_id limit 1
) i
on conflict (run_id, workspace_id) do update set state = excluded.state, asked = excluded.asked,
  seen_at = clock_timestamp(), cost_micros = excluded.cost_micros,
  plan_cost_micros = excluded.plan_cost_micros, tokens = excluded.tokens,
  voice_ms = excluded.voice_ms, browser_ms = excluded.browser_ms, held_in = excluded.held_in`;
});

/**
 * Returns the assignments of an update that begins the next period of a budget if the SQL condition
 * `isOver` is true. The caller assigns `spent`, `crossed` and `refused`.
 * @param next alias of a row with the columns starts and ends of the next period.
 */
export function startPeriod(budget: string, isOver: string, next: string): string {
  return `starts = case when ${isOver} then ${next}.starts else ${budget}.starts end,
    ends = case when ${isOver} then ${next}.ends else ${budget}.ends end,
    allowed = case when ${isOver} and ${budget}.changes_next then ${budget}.next_allowed
      else ${budget}.allowed end,
    changes_next = ${budget}.changes_next and not ${isOver}`;
}

function askedJson(asked: NonNullable<WrittenReservation["asked"]>): string {
  const { amounts, blockedAt } = asked;
  return JSON.stringify({
    cost_micros: amounts.costMicros,
    plan_cost_micros: amounts.planCostMicros,
    tokens: amounts.tokens,
    voice_ms: amounts.voiceMs,
    browser_ms: amounts.browserMs,
    blocked_at: blockedAt,
  } satisfies ReservationRow["asked"]);
}

/** The locked budgets that apply to the runs that ask, and the reservations in their workspaces. */
export interface Locked {
  readonly budgets: readonly LockedBudget[];
  readonly reservations: readonly StoredReservation[];
}

/**
 * Locks the budgets of the runs whose claims are valid, calls `decideOn`, and writes the result in
 * one transaction. `decideOn` returns undefined if there is nothing to write. `reached` is sent
 * only if a limit is reached: most transactions need no SQL for events.
 */
export function reserveInTransaction(
  database: Database,
  reached: ReachedStatement,
  claims: readonly RunClaim[],
  decideOn: (locked: Locked) => ReserveInput | undefined,
): Promise<void> {
  return inTransaction(database.engine, async (client) => {
    const budgets = await client.query<BudgetRow>(lockStatement.query(claims));
    const reservations = await client.query<ReservationRow>(readStatement.query(claims));
    const written = decideOn({
      budgets: budgets.rows.map(toBudget),
      reservations: reservations.rows.map(toReservation),
    });
    if (written !== undefined) await client.query(writeStatement.query(written));
    if (written !== undefined && written.reached.length > 0)
      await client.query(reached.query(written.reached));
  });
}

/** The statements that reserve amounts of budgets in a transaction, for `runs/statements.sql`. */
export const reserveStatements = [lockStatement, readStatement, writeStatement];
