import type { Allowances } from "@beckon/contract";
import {
  type Database,
  inAllWorkspaces,
  type WorkspaceTransaction,
} from "../../base/database/index.ts";
import { announceLimits } from "../announce.ts";
import type { NewBudget } from "../budgets/index.ts";
import type { LimitServices, PlanSources } from "../services.ts";
import { findAllowances } from "./plan.ts";
import { type PlanLimits, putPlanBudgets } from "./put-plan-budgets.ts";
import { lockPlans } from "./store.ts";
import {
  findDueWorkspaces,
  findWorkspacePlans,
  readAllowances,
  storeWorkspacePlans,
} from "./workspace-plan-store.ts";

/**
 * Sets the budgets of workspaces to the allowances of their plans. If the time of a planned change
 * has come, stores the next plan of the workspace as its plan. A workspace whose plan exists
 * neither in the operator's file nor in the database keeps its present allowances until its next
 * plan, if there is one, replaces them. If the next plan does not exist, the budgets stay
 * unchanged. The caller holds the lock of `lockPlans`.
 * @returns the budgets that are new. Pass them to `announceLimits` after the transaction has
 *   committed.
 */
export async function applyPlans(
  tx: WorkspaceTransaction,
  sources: PlanSources,
  workspaceIds: readonly string[],
): Promise<NewBudget[]> {
  const rows = await findWorkspacePlans(tx, workspaceIds);
  await storeWorkspacePlans(tx, rows);
  // Many workspaces are on few plans, so each plan is read once.
  const allowances = new Map<string | null, Allowances | undefined>();
  for (const name of new Set(rows.flatMap(({ plan, next_plan }) => [plan, next_plan])))
    allowances.set(name, await findAllowances(tx, sources, name));
  const plans: PlanLimits[] = [];
  for (const { id: workspaceId, plan, next_plan } of rows) {
    const present = allowances.get(plan);
    if (next_plan === null) {
      if (present !== undefined) plans.push({ workspaceId, present, next: undefined });
      continue;
    }
    const next = allowances.get(next_plan);
    if (next === undefined) continue;
    const kept = present ?? (await readAllowances(tx, workspaceId));
    plans.push({ workspaceId, present: kept, next });
  }
  return putPlanBudgets(tx, plans);
}

/**
 * Completes the planned changes of plans whose time has come. The amounts of the budgets have
 * changed already, when their period ended. What remains is to store the name of the next plan as
 * the workspace's plan, and to delete the budgets of metrics that have become unlimited.
 */
export async function applyNextPlans(
  database: Database,
  limits: PlanSources & Pick<LimitServices["limits"], "changed">,
): Promise<void> {
  const { tenant } = database;
  if ((await inAllWorkspaces(tenant, findDueWorkspaces)).length === 0) return;
  const { created, workspaceIds } = await inAllWorkspaces(tenant, async (tx) => {
    await lockPlans(tx);
    const workspaceIds = await findDueWorkspaces(tx);
    return { created: await applyPlans(tx, limits, workspaceIds), workspaceIds };
  });
  await announceLimits({ database, limits }, workspaceIds, created);
}
