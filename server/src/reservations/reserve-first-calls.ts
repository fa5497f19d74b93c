import { heldAmountSql } from "./budget.ts";
import { scopeIds, waiterTimeoutSeconds } from "./reserve-statement.ts";

const amountOfCall = heldAmountSql("b", "a");
/** SQL condition that a budget `b` can apply to a run of `calling`. */
const isCandidate = `b.workspace_id = any (array(select workspace_id from calling))
    and b.scope_id = any (array(select unnest(scope_ids) from calling))
    and b.metric in ('cost', 'tokens')`;
/** SQL condition that a budget `b` applies to a run `a` of `calling`. */
const applies = "b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)";

/**
 * Returns SQL that reserves, in the statement that starts runs, what the first model calls of these
 * runs can use. A run then needs no statement of its own to reserve it. Runs for which nothing is
 * reserved here reserve later, as all runs do for their further calls.
 *
 * The SQL reserves for a run only if at least half of the unspent amount of each of its budgets
 * stays free. Close to a limit, each run reserves later, just before its model call, so that the
 * rest goes to the runs that call their models first. The SQL reserves nothing in a budget that
 * other runs wait for, whose period is over, or that another transaction has locked: a start never
 * waits for the lock of a budget, which all runs of a workspace share. Budgets of voice and browser
 * seconds do not matter to model calls.
 *
 * @param starting name of a common table expression with the columns run_id, workspace_id,
 *   agent_id, principal, trigger_id and status of the runs to start, and call_cost_micros,
 *   call_plan_cost_micros and call_tokens: what a run's first call can use at most. Nothing is
 *   reserved for a run whose call_tokens are null.
 * @returns common table expressions, two of which have the column run_id: `first_reservations`, the
 *   runs for which something was reserved, and `unrestricted_first_calls`, those among them whose
 *   calls use only unlimited budgets: their model is free and only money is limited, or a planned
 *   plan has not taken effect.
 */
export const reserveFirstCalls = (starting: string): string => `calling as materialized (
  select s.run_id, s.workspace_id, s.agent_id, s.principal, s.trigger_id,
    s.call_cost_micros as cost_micros, s.call_plan_cost_micros as plan_cost_micros,
    s.call_tokens as tokens, 0 as voice_ms, 0 as browser_ms, ${scopeIds("s")} as scope_ids
  from ${starting} s where s.status = 'running' and s.call_tokens is not null
), locked_budgets as materialized (
  select b.* from budgets b
  where ${isCandidate}
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b skip locked
), applying as materialized (
  -- A budget that is not locked fits no run.
  select b.id, b.workspace_id, b.scope_id, b.scope_kind, b.metric, l.allowed is not null as is_finite,
    coalesce(l.ends > now()
      and (l.waiter_seen_at > clock_timestamp() - interval '${waiterTimeoutSeconds} seconds')
        is not true
      and (l.allowed is null or 2 * (l.reserved + (
        select sum(${amountOfCall}) from calling a where ${applies}
      )) <= l.allowed - l.spent), false) as fits
  from budgets b left join locked_budgets l on l.id = b.id
  where ${isCandidate}
), fitting as materialized (
  select a.*, h.held_in, h.is_restricted
  from calling a cross join lateral (
    select array_agg(b.id) as held_in, bool_or(b.is_finite and ${amountOfCall} > 0) as is_restricted,
      bool_and(b.fits and (not b.is_finite or b.metric <> 'cost'
      or case b.scope_kind when 'plan' then a.plan_cost_micros else a.cost_micros end is not null
    )) as fits
    from applying b where ${applies}
  ) h where h.fits
), unrestricted_first_calls as (
  select run_id from fitting where not is_restricted
), reserved_in as materialized (
  select b.id as budget_id, sum(${amountOfCall}) as amount
  from applying b join fitting a on b.id = any (a.held_in) group by b.id
), reserving_budgets as (
  update budgets b set reserved = b.reserved + r.amount
  from reserved_in r
  where b.id = r.budget_id and b.id = any (array(select budget_id from reserved_in))
), first_reservations as (
  insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state,
    cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
  select run_id, workspace_id, agent_id, principal, trigger_id, 'held', cost_micros,
    plan_cost_micros, tokens, voice_ms, browser_ms, held_in
  from fitting
  returning run_id
)`;
