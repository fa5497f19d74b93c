import { type Database, statement } from "../base/database/index.ts";
import { type Amounts, heldAmountSql, limitsModelCallsSql } from "./budget.ts";
import { type RunClaim, runsToLimit, scopeIds, waiterTimeoutSeconds } from "./reserve-statement.ts";

/** What a run asks for. It is reserved completely or not at all. */
export interface WholeReservation extends RunClaim {
  readonly amounts: Amounts;
}

const amountOfRun = heldAmountSql("b", "a");

/**
 * Reserves what the runs ask for, either for all of them or for none. It reserves only if all
 * claims are valid, if every budget that applies is in its current period and has enough left for
 * all runs together, if no other run waits for one of these budgets, and if none of the runs
 * already holds a reservation.
 *
 * Whether a run waits is read from `budgets.waiter_seen_at` after the budget's row was locked. The
 * rows of waiting runs are not read: the statement's snapshot is older than the lock, so new rows
 * can be missing in it.
 */
export const reserveAtOnceStatement = statement<readonly WholeReservation[]>(
  "reserve-at-once",
  (p) => {
    const asking = p.rowsWithNumbers(
      "a",
      (runs) => runs,
      {
        run_id: ["text", ({ runId }) => runId],
        owner: ["text", ({ owner }) => owner],
        fence: ["int", ({ fence }) => fence],
      },
      {
        cost_micros: ({ amounts }) => amounts.costMicros,
        plan_cost_micros: ({ amounts }) => amounts.planCostMicros,
        tokens: ({ amounts }) => amounts.tokens,
        voice_ms: ({ amounts }) => amounts.voiceMs,
        browser_ms: ({ amounts }) => amounts.browserMs,
      },
    );
    const runIds = asking.column("run_id");
    return `
with ${runsToLimit(asking)}, asking as materialized (
  select a.*, r.workspace_id, r.agent_id, r.principal, r.trigger_id, ${scopeIds("r")} as scope_ids
  from ${asking.table} join runs_to_limit r on r.run_id = a.run_id
), locked_budgets as materialized (
  select b.* from budgets b
  where b.workspace_id = any (array(select workspace_id from asking))
    and b.scope_id = any (array(select unnest(scope_ids) from asking))
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b
), needed as materialized (
  select b.id, sum(${amountOfRun}) as amount, bool_or(b.metric = 'cost' and case
      when b.scope_kind = 'plan' then a.plan_cost_micros else a.cost_micros end is null
    ) as is_unpriced
  from locked_budgets b
  join asking a on a.workspace_id = b.workspace_id and b.scope_id = any (a.scope_ids)
  group by b.id
), outcome as materialized (
  select not exists (
    select from needed n join locked_budgets b on b.id = n.id
    where b.ends <= now()
      or b.waiter_seen_at > clock_timestamp() - interval '${waiterTimeoutSeconds} seconds'
      or b.allowed is not null and (n.is_unpriced or n.amount > b.allowed - b.spent - b.reserved)
  ) and not exists (
    -- A reservation that a run already holds must be replaced, which this statement cannot do.
    select from reservations v where v.run_id = any (${runIds})
  ) and (select count(*) from runs_to_limit) = cardinality(${runIds}) as fits
), written_budgets as (
  update budgets b set reserved = b.reserved + n.amount
  from needed n
  where (select fits from outcome) and b.id = n.id and b.id = any (array(select id from needed))
), held as materialized (
  select a.*, applying.held_in, applying.is_restricted
  from asking a cross join lateral (
    select coalesce(array_agg(b.id), '{}') as held_in,
      coalesce(bool_or(${limitsModelCallsSql} and ${amountOfRun} > 0), false) as is_restricted
    from locked_budgets b
    where b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)
  ) applying
), written_reservations as (
  insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state,
    cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
  select run_id, workspace_id, agent_id, principal, trigger_id, 'held', cost_micros,
    plan_cost_micros, tokens, voice_ms, browser_ms, held_in
  from held where (select fits from outcome) and held_in <> '{}'
)
select fits, (select json_agg(json_build_array(h.run_id, json_build_object(
      'isReserved', h.held_in <> '{}',
      'isLimited', exists (select from budgets b where b.workspace_id = h.workspace_id))))
  from held h where not h.is_restricted) as unrestricted
from outcome`;
  },
);

/** A run whose call uses no budget that restricts model calls: see `Decision`. */
export interface UnrestrictedRun {
  /** False if no budget applies to the run, so that nothing was reserved for it. */
  readonly isReserved: boolean;
  /** Whether the run's workspace has budgets. */
  readonly isLimited: boolean;
}

/**
 * Reserves for all runs in one statement, which is much cheaper than `reserveInTransaction`.
 * @param runs runs that have made no attempt of their call yet.
 * @returns undefined if nothing was reserved: the caller must then decide which run gets how much,
 *   and which run waits. Otherwise the runs whose model calls no budget restricts, by id.
 */
export async function reserveAtOnce(
  database: Database,
  runs: readonly WholeReservation[],
): Promise<ReadonlyMap<string, UnrestrictedRun> | undefined> {
  const { rows } = await reserveAtOnceStatement.send<{
    fits: boolean;
    unrestricted: [runId: string, UnrestrictedRun][] | null;
  }>(database.engine, runs);
  const [row] = rows;
  if (row?.fits !== true) return undefined;
  return new Map(row.unrestricted);
}
