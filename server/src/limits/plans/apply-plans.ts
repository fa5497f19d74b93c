import {
  type Database,
  inAllWorkspaces,
  type WorkspaceTransaction,
} from "../../base/database/index.ts";
import { type BudgetKey, countSpent } from "../budgets/index.ts";
import type { PlanSources } from "../services.ts";
import { findAllowances } from "./plan.ts";
import { type PlanLimits, putPlanBudgets } from "./put-plan-budgets.ts";
import { lockPlans } from "./store.ts";
import {
  findDueWorkspaces,
  findWorkspacePlan,
  storeWorkspacePlan,
} from "./workspace-plan-store.ts";

/**
 * Sets the budgets of workspaces to the allowances of their plans, and stores planned changes whose
 * time has come. A workspace keeps its budgets if its plan or its next plan is neither in the
 * operator's file nor in the database. The caller holds the lock of `lockPlans`.
 * @returns the budgets that are new. Pass them to `countSpent` after the transaction has committed.
 */
export async function applyPlans(
  tx: WorkspaceTransaction,
  sources: PlanSources,
  workspaceIds: readonly string[],
): Promise<BudgetKey[]> {
  const plans: PlanLimits[] = [];
  for (const workspaceId of workspaceIds) {
    const row = await findWorkspacePlan(tx, workspaceId);
    if (row === undefined) continue;
    await storeWorkspacePlan(tx, workspaceId, row);
    const present = await findAllowances(tx, sources, row.plan);
    const next =
      row.next_plan === null ? undefined : await findAllowances(tx, sources, row.next_plan);
    if (present !== undefined && (row.next_plan === null || next !== undefined))
      plans.push({ workspaceId, present, next });
  }
  return putPlanBudgets(tx, plans);
}

/**
 * Stores the planned changes of plans whose time has come. The amounts of the budgets have changed
 * already, when their period ended. What remains is to store the name of the plan, and to delete
 * the budgets of metrics that have become unlimited.
 */
export async function applyNextPlans(database: Database, sources: PlanSources): Promise<void> {
  const { tenant } = database;
  if ((await inAllWorkspaces(tenant, findDueWorkspaces)).length === 0) return;
  const created = await inAllWorkspaces(tenant, async (tx) => {
    await lockPlans(tx);
    return applyPlans(tx, sources, await findDueWorkspaces(tx));
  });
  await countSpent(database, created);
}
