import type { LimitMetric } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { calendarPeriodSql, currentPeriodSql, reachedSql } from "../../reservations/index.ts";

/** The amount used of one metric of the plan. Amounts are text because their type is bigint. */
export interface MetricRow {
  readonly metric: LimitMetric;
  /** null: unlimited. */
  readonly allowed: string | null;
  /** null: the sum of the known costs is 0, and the cost of at least one call is unknown. */
  readonly used: string | null;
  readonly unknown_cost_entries: string;
  readonly reserved: string;
  readonly reached: boolean;
  readonly starts: Date;
  readonly ends: Date;
}

/**
 * Returns the amounts used in the current month of the plan, by metric. For a metric with a limit,
 * the amount is `spent` of its budget. For other metrics it is the sum of the ledger since the
 * month began: one statement reads the sums by day and the entries that are not in them yet, so it
 * reads one snapshot and counts each entry exactly once.
 *
 * An entry keeps its date in the time zone that the workspace had then. So after a change of the
 * time zone, entries from before and after `starts` can have the same date. Entries of such dates,
 * which are before `whole_from`, are read one by one: a local day begins at most 14 hours before
 * and 12 hours after the same day in UTC. In a busy workspace that takes long. It is not needed,
 * and `starts_day` is true, if `starts` begins a local day and the time zone was not changed since
 * the day before.
 *
 * For a plan, an entry costs its standard cost or, if that is unknown, its cost at the workspace's
 * own price. A row of sums by day does not show which of its entries lack a standard cost, so one
 * of the two sums is used for the whole row. It is the sum of the costs at the own price if the
 * standard costs add up to 0 and an entry has only a cost at the own price; else it is the sum of
 * the standard costs. This is usually exact: all entries of a row have the same model, so either
 * all of them have a standard cost, or only those without tokens, whose cost is 0. If the standard
 * price became known or unknown during the day, only the standard costs are counted, and the
 * entries without one count as unknown.
 */
export async function readMetrics(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<MetricRow[]> {
  const { rows } = await sql<MetricRow>`
with month as (
  select m.starts, m.ends, d.starts_day, case when d.starts_day then d.first_day
    else (m.starts at time zone 'UTC' + interval '38 hours')::date end as whole_from
  from workspaces w
  left join lateral (
    select starts, ends from budgets b
    where b.workspace_id = w.id and b.scope_id = w.id and b.scope_kind = 'plan'
    order by b.ends desc limit 1
  ) as b on true
  cross join lateral ${sql.raw(calendarPeriodSql("'plan'", "b", "w"))} as p
  cross join lateral (select ${sql.raw(currentPeriodSql("b", "p"))}) as m
  cross join lateral (
    select f.first_day, coalesce(w.time_zone_changed_at < m.starts - interval '27 hours', true)
      and f.first_day > ((m.starts - interval '1 us') at time zone w.time_zone)::date as starts_day
    from (select (m.starts at time zone w.time_zone)::date as first_day) as f
  ) as d
  where w.id = ${workspaceId}
), used as (
  select u.input_tokens, u.output_tokens, u.voice_ms, u.browser_ms, u.entries,
    case when c.is_own then u.cost_micros else u.standard_cost_micros end as cost_micros,
    case when c.is_own then u.unknown_cost_entries else u.unknown_standard_cost_entries end
      as unknown_cost_entries
  from month, usage_days u
  cross join lateral (
    select u.standard_cost_micros = 0
      and u.unknown_standard_cost_entries > u.unknown_cost_entries as is_own
  ) as c
  where u.workspace_id = ${workspaceId} and u.day >= month.whole_from
  union all
  select u.input_tokens, u.output_tokens, u.voice_ms, u.browser_ms, 1, c.cost_micros,
    (c.cost_micros is null)::int
  from (
    select u.* from month, usage_entries u
    where u.workspace_id = ${workspaceId} and u.day >= month.whole_from and u.transaction >= (
      select coalesce(max(r.up_to), '-9223372036854775808'::bigint)
      from usage_rollups r where r.workspace_id = ${workspaceId})
    union all
    select u.* from month, usage_entries u
    where u.workspace_id = ${workspaceId} and not (select starts_day from month)
      and u.day < month.whole_from and u.time >= (select starts from month)
      and u.time < (select (whole_from + 1)::timestamp at time zone 'UTC' from month)
  ) as u
  cross join lateral (select coalesce(u.standard_cost_micros, u.cost_micros) as cost_micros) as c
), sums as (
  select coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens,
    coalesce(sum(voice_ms), 0)::bigint as voice, coalesce(sum(browser_ms), 0)::bigint as browser,
    case when sum(unknown_cost_entries) > 0 then nullif(coalesce(sum(cost_micros), 0), 0)
      else coalesce(sum(cost_micros), 0) end::bigint as cost,
    coalesce(sum(unknown_cost_entries), 0) as unknown_cost_entries
  from used
)
select m.metric, a.allowed,
  case when a.allowed is null then m.used when b.ends > now() then b.spent else 0 end as used,
  m.unknown_cost_entries, coalesce(b.reserved, 0) as reserved,
  ${sql.raw(reachedSql)} as reached,
  ${sql.raw(currentPeriodSql("b", "month"))}
from month, sums
cross join lateral (values (1, 'tokens', sums.tokens, 0), (2, 'voice', sums.voice, 0),
  (3, 'browser', sums.browser, 0), (4, 'cost', sums.cost, sums.unknown_cost_entries)
) as m (number, metric, used, unknown_cost_entries)
left join budgets b on b.workspace_id = ${workspaceId} and b.scope_id = ${workspaceId}
  and b.scope_kind = 'plan' and b.metric = m.metric
cross join lateral (
  select case when b.ends <= now() and b.changes_next then b.next_allowed else b.allowed end
    as allowed
) as a
order by m.number`.execute(tx);
  return rows;
}
