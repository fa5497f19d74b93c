import { type Allowances, type LimitMetric, unlimitedPlan } from "@beckon/contract";
import { type RawBuilder, sql } from "kysely";
import type { WorkspaceTransaction } from "../../base/database/index.ts";

/** The metrics that a plan limits, each with the field of its allowance. */
export const planMetrics = [
  ["tokens", "tokens"],
  ["voice", "voice_ms"],
  ["browser", "browser_ms"],
  ["cost", "cost_micros"],
] as const satisfies readonly (readonly [LimitMetric, keyof Allowances])[];

/** A workspace with its plan, as of now. */
export interface WorkspacePlanRow {
  readonly id: string;
  readonly name: string;
  readonly time_zone: string;
  /** Name of the plan; null: the built-in plan. */
  readonly plan: string | null;
  /** Name of the plan that replaces `plan`; null if no change is planned. */
  readonly next_plan: string | null;
  /** When `next_plan` replaces `plan`; null if no change is planned. */
  readonly next_at: Date | null;
  /**
   * Whether a planned change has taken effect, and is not stored yet. `plan` is then the new plan
   * already, and the budgets of metrics that have become unlimited still exist.
   */
  readonly is_due: boolean;
  readonly plan_anchor: number;
}

/**
 * SQL of the time at which the next plan of the workspace `w` replaces the current one: the end of
 * the current plan's month. Null if no change is planned. Also null once this time has passed, even
 * if the change was not stored yet. If neither plan limits a metric, there is no budget whose month
 * could end: the next plan then replaces the current one at once.
 */
const nextAt = sql`(
  select max(b.ends) from budgets b
  where b.workspace_id = w.id and b.scope_id = w.id and b.scope_kind = 'plan'
    and b.changes_next and b.ends > now() and w.next_plan is not null
)`;

const selectPlans = (rest: RawBuilder<unknown>) => sql<WorkspacePlanRow>`
  select w.id, w.name, w.time_zone, w.plan_anchor, n.next_at,
    w.next_plan is not null and n.next_at is null as is_due,
    case when n.next_at is null then coalesce(w.next_plan, w.plan) else w.plan end as plan,
    case when n.next_at is not null then w.next_plan end as next_plan
  from workspaces w cross join lateral (select ${nextAt} as next_at) as n ${rest}`;

/** Returns the workspaces with these ids, in the order of their ids. */
export async function findWorkspacePlans(
  tx: WorkspaceTransaction,
  workspaceIds: readonly string[],
): Promise<WorkspacePlanRow[]> {
  const ids = [...workspaceIds];
  return (await selectPlans(sql`where w.id = any (${ids}::text[]) order by w.id`).execute(tx)).rows;
}

export async function findWorkspacePlan(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<WorkspacePlanRow | undefined> {
  return (await findWorkspacePlans(tx, [workspaceId]))[0];
}

/**
 * Returns up to `limit` workspaces, newest first.
 * @param plan if given, only workspaces with this plan or next plan are returned.
 */
export async function listWorkspacePlanRows(
  tx: WorkspaceTransaction,
  { plan, below, limit }: { plan: string | undefined; below: string | undefined; limit: number },
): Promise<WorkspacePlanRow[]> {
  const all = selectPlans(sql``);
  const { rows } = await sql<WorkspacePlanRow>`select * from (${all}) as w
    where ${below === undefined ? sql`true` : sql`id < ${below}`}
      and ${plan === undefined ? sql`true` : sql`${plan} in (coalesce(plan, ${unlimitedPlan}), next_plan)`}
    order by id desc limit ${limit}`.execute(tx);
  return rows;
}

/** Returns the ids of the workspaces whose plan or next plan is in `names`. */
export async function findWorkspacesOn(
  tx: WorkspaceTransaction,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select id from workspaces
    where plan = any (${[...names]}::text[]) or next_plan = any (${[...names]}::text[])
    order by id`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of the workspaces whose budgets differ from the allowances of their plan or next
 * plan. Only plans in `plans` are compared.
 */
export async function findOutdatedWorkspaces(
  tx: WorkspaceTransaction,
  plans: ReadonlyMap<string, Allowances>,
): Promise<string[]> {
  const wanted = [...plans].flatMap(([plan, allowances]) =>
    planMetrics.map(([metric, field]) => ({ plan, metric, allowed: allowances[field] })),
  );
  const { rows } = await sql<{ id: string }>`
    with wanted as (
      select * from jsonb_to_recordset(${JSON.stringify(wanted)})
        as a (plan text, metric text, allowed bigint)
    )
    select distinct w.id from (${selectPlans(sql``)}) as w
    join wanted a on a.plan in (w.plan, w.next_plan)
    left join budgets b on b.workspace_id = w.id and b.scope_id = w.id and b.scope_kind = 'plan'
      and b.metric = a.metric
    cross join lateral (
      select case when b.changes_next then b.next_allowed else b.allowed end as allowed
    ) as next
    where a.plan = w.plan and a.allowed is distinct from
        case when b.ends > now() then b.allowed else next.allowed end
      or a.plan = w.next_plan and a.allowed is distinct from next.allowed
    order by w.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Returns the ids of the workspaces whose `next_plan` must become their `plan` now. */
export async function findDueWorkspaces(tx: WorkspaceTransaction): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select w.id from workspaces w
    where w.next_plan is not null and ${nextAt} is null order by w.id`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Stores the plans of workspaces. In `plan`, null is the built-in plan. In `next_plan`, null means
 * that no change is planned.
 */
export async function storeWorkspacePlans(
  tx: WorkspaceTransaction,
  rows: readonly Pick<WorkspacePlanRow, "id" | "plan" | "next_plan" | "plan_anchor">[],
): Promise<void> {
  await sql`
    update workspaces w
    set plan = nullif(k.plan, ${unlimitedPlan}), next_plan = k.next_plan, plan_anchor = k.plan_anchor
    from jsonb_to_recordset(${JSON.stringify(rows)})
      as k (id text, plan text, next_plan text, plan_anchor int)
    where w.id = k.id`.execute(tx);
}

/**
 * Returns the allowances that the budgets of the workspace have now. They are those of its plan,
 * and remain if the plan no longer exists.
 */
export async function readAllowances(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<Allowances> {
  const { rows } = await sql<{ metric: LimitMetric; allowed: string | null }>`
    select b.metric,
      case when b.ends <= now() and b.changes_next then b.next_allowed else b.allowed end as allowed
    from budgets b
    where b.workspace_id = ${workspaceId} and b.scope_id = ${workspaceId}
      and b.scope_kind = 'plan'`.execute(tx);
  const allowed = (metric: LimitMetric) => {
    const amount = rows.find((row) => row.metric === metric)?.allowed ?? null;
    return amount === null ? null : Number(amount);
  };
  return {
    tokens: allowed("tokens"),
    voice_ms: allowed("voice"),
    browser_ms: allowed("browser"),
    cost_micros: allowed("cost"),
  };
}

/** Returns whether the plan of the workspace limits a metric, now or after a planned change. */
export async function hasPlanBudgets(
  tx: WorkspaceTransaction,
  workspaceId: string,
): Promise<boolean> {
  const { rows } = await sql`select from budgets b
    where b.workspace_id = ${workspaceId} and b.scope_id = ${workspaceId} and b.scope_kind = 'plan'
    limit 1`.execute(tx);
  return rows.length > 0;
}

/** Returns the names of the plans on which workspaces are, or to which they change. */
export async function plansInUse(tx: WorkspaceTransaction): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct p.name from workspaces w, unnest(array[w.plan, w.next_plan]) as p (name)
    where p.name is not null and p.name <> ${unlimitedPlan}`.execute(tx);
  return rows.map(({ name }) => name);
}
