import type { LimitMetric } from "@beckon/contract";
import { sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";

/** The amount used of one metric of the plan. Amounts are text because their type is bigint. */
export interface MetricRow {
  readonly metric: LimitMetric;
  /** null: unlimited. */
  readonly allowed: string | null;
  readonly used: string;
  readonly reserved: string;
  readonly starts: Date;
  readonly ends: Date;
}

/**
 * Returns the amounts used in the current month of the plan, by metric. For a metric with a limit,
 * the amount is `spent` of its budget. For others it is the sum of the ledger since the date on
 * which the month began: one statement reads the sums by day and the entries that are not in them
 * yet, so it reads one snapshot and counts each entry exactly once.
 */
export async function readMetrics(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<MetricRow[]> {
  const { rows } = await sql<MetricRow>`
with month as (
  select coalesce(b.starts, p.starts) as starts, coalesce(b.ends, p.ends) as ends,
    (coalesce(b.starts, p.starts) at time zone w.time_zone)::date as first_day
  from workspaces w
  cross join lateral period_of(now(), w.time_zone, 'month', w.plan_anchor) as p
  left join lateral (
    select starts, ends from budgets b
    where b.workspace_id = w.id and b.scope_id = w.id and b.scope_kind = 'plan' and b.ends > now()
    limit 1
  ) as b on true
  where w.id = ${workspaceId}
), used as (
  select u.input_tokens, u.output_tokens, u.voice_ms, u.browser_ms, u.cost_micros
  from usage_days u, month
  where u.workspace_id = ${workspaceId} and u.day >= month.first_day
  union all
  select u.input_tokens, u.output_tokens, u.voice_ms, u.browser_ms, u.cost_micros
  from usage_entries u, month
  where u.workspace_id = ${workspaceId} and u.day >= month.first_day and u.transaction >= (
    select coalesce(max(r.up_to), '-9223372036854775808'::bigint)
    from usage_rollups r where r.workspace_id = ${workspaceId})
), sums as (
  select coalesce(sum(input_tokens + output_tokens), 0)::bigint as tokens,
    coalesce(sum(voice_ms), 0)::bigint as voice, coalesce(sum(browser_ms), 0)::bigint as browser,
    coalesce(sum(cost_micros), 0)::bigint as cost
  from used
)
select m.metric,
  case when b.ends <= now() and b.changes_next then b.next_allowed else b.allowed end as allowed,
  case when b.ends > now() then b.spent when b.ends is not null then 0 else m.used end as used,
  coalesce(b.reserved, 0) as reserved,
  case when b.ends > now() then b.starts else month.starts end as starts,
  case when b.ends > now() then b.ends else month.ends end as ends
from month, sums
cross join lateral (values (1, 'tokens', sums.tokens), (2, 'voice', sums.voice),
  (3, 'browser', sums.browser), (4, 'cost', sums.cost)) as m (number, metric, used)
left join budgets b on b.workspace_id = ${workspaceId} and b.scope_id = ${workspaceId}
  and b.scope_kind = 'plan' and b.metric = m.metric
order by m.number`.execute(tx);
  return rows;
}
