import type { Allowances } from "@beckon/contract";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import {
  addBudgets,
  type BudgetToPut,
  deleteBudgets,
  lockBudgets,
  type NewBudget,
  putBudgets,
} from "../budgets/index.ts";
import { planMetrics } from "./workspace-plan-store.ts";

/** The allowances of a workspace, now and after its planned change. */
export interface PlanLimits {
  readonly workspaceId: string;
  readonly present: Allowances;
  /** Replaces `present` when the plan's current month ends; undefined if no change is planned. */
  readonly next: Allowances | undefined;
}

/**
 * Sets the budgets of workspaces to the allowances of their plans. A metric that is unlimited both
 * now and after a planned change has no budget. The caller holds the lock of `lockPlans`.
 * @returns the budgets that are new. Pass them to `announceLimits` after the transaction has
 *   committed.
 */
export async function putPlanBudgets(
  tx: WorkspaceTransaction,
  plans: readonly PlanLimits[],
): Promise<NewBudget[]> {
  const all = budgetsOf(plans);
  const limited = all.filter(isLimited);
  // Budgets are deleted last: a new budget takes its month from the budgets that the plan already
  // has, even if all of these are deleted here.
  const created = await addBudgets(tx, limited);
  await lockBudgets(tx, all);
  await putBudgets(tx, limited);
  await deleteBudgets(
    tx,
    all.filter((budget) => !isLimited(budget)),
  );
  return created;
}

/**
 * Creates those of the budgets of `putPlanBudgets` that do not exist. It sums up a month of usage,
 * so call it first if you lock the budgets of the workspaces before you call `putPlanBudgets`.
 * @returns the budgets that are new, as `putPlanBudgets` does.
 */
export function addPlanBudgets(
  tx: WorkspaceTransaction,
  plans: readonly PlanLimits[],
): Promise<NewBudget[]> {
  return addBudgets(tx, budgetsOf(plans).filter(isLimited));
}

function budgetsOf(plans: readonly PlanLimits[]): BudgetToPut[] {
  return plans.flatMap(({ workspaceId, present, next }) =>
    planMetrics.map(
      ([metric, field]): BudgetToPut => ({
        workspaceId,
        scopeId: workspaceId,
        scopeKind: "plan",
        metric,
        allowed: present[field],
        nextAllowed: next?.[field],
      }),
    ),
  );
}

function isLimited({ allowed, nextAllowed }: BudgetToPut): boolean {
  return allowed !== null || (nextAllowed ?? null) !== null;
}
