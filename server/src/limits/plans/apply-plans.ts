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
  findOutdatedWorkspaces,
  findWorkspacePlans,
  readAllowances,
  storeWorkspacePlans,
} from "./workspace-plan-store.ts";

/**
 * Maximum number of workspaces whose budgets one transaction changes. The transaction may have to
 * sum up a month of usage for each workspace. Until it ends, it holds back the streams of events,
 * as every transaction that writes, and holds the lock of `lockPlans`.
 */
export const maxWorkspaces = 20;

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
 * Does what `applyPlans` does in one transaction for each `maxWorkspaces` workspaces.
 * @param committed called after each transaction with its workspaces and their new budgets.
 * @param stopping Aborts when the process stops. The other workspaces then stay as they are.
 */
export async function applyPlansInBatches(
  { tenant }: Pick<Database, "tenant">,
  sources: PlanSources,
  workspaceIds: readonly string[],
  committed: (workspaceIds: readonly string[], created: readonly NewBudget[]) => Promise<void>,
  stopping?: AbortSignal,
): Promise<void> {
  for (let start = 0; start < workspaceIds.length; start += maxWorkspaces) {
    if (stopping?.aborted) return;
    const batch = workspaceIds.slice(start, start + maxWorkspaces);
    const created = await inAllWorkspaces(tenant, async (tx) => {
      await lockPlans(tx);
      return applyPlans(tx, sources, batch);
    });
    await committed(batch, created);
  }
}

/**
 * Applies a plan to the workspaces on it that do not have its allowances yet. The transaction that
 * creates or changes a plan applies it to the first `maxWorkspaces` workspaces, and this function
 * to the others. If it fails or the process exits, the next request that changes the plan, or the
 * next startup (`reconcilePlans`), applies it to the workspaces that are left.
 */
export async function applyPlanToOthers(
  { database, limits }: { readonly database: Pick<Database, "tenant"> } & LimitServices,
  name: string,
): Promise<void> {
  const outdated = await inAllWorkspaces(database.tenant, async (tx) => {
    const allowances = await findAllowances(tx, limits, name);
    return allowances === undefined
      ? []
      : findOutdatedWorkspaces(tx, new Map([[name, allowances]]));
  });
  await applyPlansInBatches(database, limits, outdated, (workspaceIds, created) =>
    announceLimits({ database, limits }, workspaceIds, created),
  );
}

/**
 * Completes the planned changes of plans whose time has come. The amounts of the budgets have
 * changed already, when their period ended. What remains is to store the name of the next plan as
 * the workspace's plan, and to delete the budgets of metrics that have become unlimited.
 * @param stopping as for `applyPlansInBatches`
 */
export async function applyNextPlans(
  database: Database,
  limits: PlanSources & Pick<LimitServices["limits"], "changed">,
  stopping: AbortSignal,
): Promise<void> {
  const due = await inAllWorkspaces(database.tenant, findDueWorkspaces);
  const committed = (workspaceIds: readonly string[], created: readonly NewBudget[]) =>
    announceLimits({ database, limits }, workspaceIds, created);
  await applyPlansInBatches(database, limits, due, committed, stopping);
}
