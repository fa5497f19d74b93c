import { type Plan, updatePlanBody } from "@beckon/contract";
import { changes, record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inAllWorkspaces } from "../../base/database/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { announceLimits } from "../announce.ts";
import type { LimitServices } from "../services.ts";
import { applyPlans, applyPlanToOthers, maxWorkspaces } from "./apply-plans.ts";
import { noPlan, toPlan } from "./plan.ts";
import { findPlan, lockPlans, updatePlanRow } from "./store.ts";
import { findWorkspacesOn } from "./workspace-plan-store.ts";

/**
 * Changes what a plan allows, at once for all workspaces that are on it. If there are more than 20,
 * that takes several transactions.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`
 */
export async function updatePlan({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { planId: string; body: UnparsedBody };
}): Promise<Plan> {
  permit(ctx, "plans:write");
  const { database, limits } = ctx;
  const { plan, created, workspaceIds } = await inAllWorkspaces(database.tenant, async (tx) => {
    await lockPlans(tx);
    const row = await findPlan(tx, ctx.workspaceId, input.planId);
    if (row === undefined) throw noPlan();
    const { tokens, voice_ms, browser_ms, cost_micros } = parseBody(updatePlanBody, input.body);
    const before = toPlan(row);
    const plan = toPlan(
      await updatePlanRow(tx, row, {
        ...(tokens === undefined ? {} : { tokens }),
        ...(voice_ms === undefined ? {} : { voice_ms }),
        ...(browser_ms === undefined ? {} : { browser_ms }),
        ...(cost_micros === undefined ? {} : { cost_micros }),
      }),
    );
    const workspaceIds = (await findWorkspacesOn(tx, [row.name])).slice(0, maxWorkspaces);
    const created = await applyPlans(tx, limits, workspaceIds);
    await record(tx, ctx, {
      action: "plan.update",
      target: row.id,
      data: { name: row.name, ...changes(before, plan) },
    });
    return { plan, created, workspaceIds };
  });
  await announceLimits(ctx, workspaceIds, created);
  await applyPlanToOthers(ctx, plan.name);
  return plan;
}
