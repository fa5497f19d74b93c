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
  findWorkspacePlan,
  readAllowances,
  storeWorkspacePlan,
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
  const plans: PlanLimits[] = [];
  for (const workspaceId of workspaceIds) {
    const row = await findWorkspacePlan(tx, workspaceId);
    if (row === undefined) continue;
    await storeWorkspacePlan(tx, workspaceId, row);
    const present = await findAllowances(tx, sources, row.plan);
    if (row.next_plan === null) {
      if (present !== undefined) plans.push({ workspaceId, present, next: undefined });
      continue;
    }
    const next = await findAllowances(tx, sources, row.next_plan);
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
