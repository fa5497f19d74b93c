import { type Allowances, updateWorkspacePlanBody, type WorkspacePlan } from "@beckon/contract";
import { changes, record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inAllWorkspaces, type WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { announceLimits } from "../announce.ts";
import { type NewBudget, startDuePeriods } from "../budgets/index.ts";
import type { LimitServices } from "../services.ts";
import { findAllowances } from "./plan.ts";
import { addPlanBudgets, type PlanLimits, putPlanBudgets } from "./put-plan-budgets.ts";
import { lockPlans } from "./store.ts";
import { toWorkspacePlan } from "./workspace-plan.ts";
import {
  findWorkspacePlan,
  hasPlanBudgets,
  readAllowances,
  storeWorkspacePlans,
  type WorkspacePlanRow,
} from "./workspace-plan-store.ts";

/**
 * Sets the plan of a workspace, at once or when the month of its current plan ends. Also sets the
 * anchor day, on which the months of the plan begin. What was used since the start of the plan's
 * current month counts against the new allowances too. All of it has been counted when the function
 * returns.
 * @throws ApiError `bad_request`; `forbidden`; `not_found` if there is no such workspace, or if the
 *   request is made outside of the workspace `default`.
 */
export async function updateWorkspacePlan({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { targetId: string; body: UnparsedBody };
}): Promise<WorkspacePlan> {
  permit(ctx, "plans:write");
  const { database, limits } = ctx;
  const { targetId } = input;
  if (ctx.workspaceId !== limits.operatorWorkspaceId) throw noWorkspace();
  const { updated, created } = await inAllWorkspaces(database.tenant, async (tx) => {
    await lockPlans(tx);
    const row = await findWorkspacePlan(tx, targetId);
    if (row === undefined) throw noWorkspace();
    const { plan, takes_effect, anchor_day } = parseBody(updateWorkspacePlanBody, input.body);
    const isNow = takes_effect === "now";
    const wanted: WorkspacePlanRow = {
      ...row,
      ...(plan === undefined ? {} : isNow ? { plan, next_plan: null } : { next_plan: plan }),
      plan_anchor: anchor_day ?? row.plan_anchor,
    };
    // `storeWorkspacePlans` completes a due change, so `applyNextPlans` does not find it any more.
    // Its budgets must be changed here, even if the request names no plan.
    const isChanged = plan !== undefined || row.is_due;
    const changed = isChanged ? [await limitsOf(tx, ctx, wanted, row)] : [];
    const created: NewBudget[] = [];
    // A month that has begun keeps its end. Without budgets, the plan has no such month.
    if (wanted.plan_anchor !== row.plan_anchor && (await hasPlanBudgets(tx, targetId))) {
      created.push(...(await addPlanBudgets(tx, changed)));
      await startDuePeriods(tx, targetId);
    }
    await storeWorkspacePlans(tx, [wanted]);
    created.push(...(await putPlanBudgets(tx, changed)));
    const before = toWorkspacePlan(row);
    const after = await findWorkspacePlan(tx, targetId);
    const updated = toWorkspacePlan(after ?? wanted);
    // The change is recorded in the audit logs of both workspaces: `default` and the changed one.
    for (const workspaceId of new Set([ctx.workspaceId, targetId])) {
      await record(
        tx,
        { ...ctx, workspaceId },
        { action: "workspace.plan", target: targetId, data: changes(before, updated) },
      );
    }
    return { updated, created };
  });
  await announceLimits(ctx, [targetId], created);
  return updated;
}

/** Returns the limits of a workspace that is on the plans of `wanted` and was on those of `row`. */
async function limitsOf(
  tx: WorkspaceTransaction,
  services: LimitServices,
  { id, plan, next_plan }: WorkspacePlanRow,
  row: WorkspacePlanRow,
): Promise<PlanLimits> {
  return {
    workspaceId: id,
    present: await allowancesOf(tx, services, plan, row),
    next: next_plan === null ? undefined : await allowancesOf(tx, services, next_plan, row),
  };
}

/**
 * Returns the allowances of the plan `name`; a `name` of null means the built-in plan. If the
 * workspace `row` is on this plan and the plan no longer exists, returns the allowances that the
 * workspace still has.
 * @throws ApiError `bad_request` if there is no plan of this name, and the workspace is not on it.
 */
async function allowancesOf(
  tx: WorkspaceTransaction,
  { limits }: LimitServices,
  name: string | null,
  row: WorkspacePlanRow,
): Promise<Allowances> {
  const allowances = await findAllowances(tx, limits, name);
  if (allowances !== undefined) return allowances;
  if (name === row.plan) return readAllowances(tx, row.id);
  throw new ApiError(
    "bad_request",
    `plan: there is no plan ${name}. GET /api/public/plans lists the plans; add one with POST /api/public/plans.`,
  );
}

function noWorkspace(): ApiError {
  return new ApiError(
    "not_found",
    "There is no workspace with this id that this credential can see.",
  );
}
