import { heldAmountSql } from "./budget.ts";
import { scopeIds, waiterTimeoutSeconds } from "./reserve-statement.ts";

const amountOfCall = heldAmountSql("b", "a");

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
 * @returns common table expressions, one of which is `first_reservations`, with the column run_id:
 *   the runs for which something was reserved.
 */
export const reserveFirstCalls = (starting: string): string => `calling as materialized (
  select s.run_id, s.workspace_id, s.agent_id, s.principal, s.trigger_id,
    s.call_cost_micros as cost_micros, s.call_plan_cost_micros as plan_cost_micros,
    s.call_tokens as tokens, 0 as voice_ms, 0 as browser_ms, ${scopeIds("s")} as scope_ids
  from ${starting} s where s.status = 'running' and s.call_tokens is not null
), locked_budgets as materialized (
  select b.* from budgets b
  where b.workspace_id = any (array(select workspace_id from calling))
    and b.scope_id = any (array(select unnest(scope_ids) from calling))
    and b.metric in ('cost', 'tokens')
  order by b.workspace_id, b.scope_id, b.scope_kind, b.metric
  for no key update of b skip locked
), wanted as materialized (
  select a.run_id, b.id as budget_id, ${amountOfCall} as amount, l.ends > now()
      and (l.waiter_seen_at > clock_timestamp() - interval '${waiterTimeoutSeconds} seconds')
        is not true
      and (l.allowed is null or (
        2 * (l.reserved + sum(${amountOfCall}) over (partition by b.id)) <= l.allowed - l.spent
        and (b.metric <> 'cost' or case b.scope_kind when 'plan' then a.plan_cost_micros
          else a.cost_micros end is not null)
      )) as fits
  from calling a
  join budgets b on b.workspace_id = a.workspace_id and b.scope_id = any (a.scope_ids)
    and b.workspace_id = any (array(select workspace_id from calling))
    and b.metric in ('cost', 'tokens')
  left join locked_budgets l on l.id = b.id
), fitting as materialized (
  select run_id, array_agg(budget_id) as held_in
  from wanted group by run_id having bool_and(coalesce(fits, false))
), reserved_in as materialized (
  select w.budget_id, sum(w.amount) as amount
  from wanted w join fitting f on f.run_id = w.run_id group by w.budget_id
), reserving_budgets as (
  update budgets b set reserved = b.reserved + r.amount
  from reserved_in r
  where b.id = r.budget_id and b.id = any (array(select budget_id from reserved_in))
), first_reservations as (
  insert into reservations (run_id, workspace_id, agent_id, principal, trigger_id, state,
    cost_micros, plan_cost_micros, tokens, voice_ms, browser_ms, held_in)
  select a.run_id, a.workspace_id, a.agent_id, a.principal, a.trigger_id, 'held', a.cost_micros,
    a.plan_cost_micros, a.tokens, a.voice_ms, a.browser_ms, f.held_in
  from fitting f join calling a on a.run_id = f.run_id
  returning run_id
)`;
