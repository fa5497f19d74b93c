import { createPlanBody, maxPlans, type Plan, unlimitedPlan } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inAllWorkspaces } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { announceLimits } from "../announce.ts";
import type { NewBudget } from "../budgets/index.ts";
import type { LimitServices } from "../services.ts";
import { applyPlans, applyPlanToOthers, maxWorkspaces } from "./apply-plans.ts";
import { requireOperator, toPlan } from "./plan.ts";
import { insertPlan, listPlanRows, lockPlans } from "./store.ts";
import { findWorkspacesOn } from "./workspace-plan-store.ts";

/**
 * Adds a plan. It applies at once to workspaces that are still on an earlier plan of its name,
 * which was removed from the operator's file. If there are more than 20, that takes several
 * transactions.
 * @throws ApiError `bad_request`; `conflict` if there is a plan of this name, or if there are 200
 *   plans already; `forbidden` outside of the workspace `default`.
 */
export async function createPlan({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { body: UnparsedBody };
}): Promise<Once<Plan>> {
  permit(ctx, "plans:write");
  requireOperator(ctx);
  const { database, limits } = ctx;
  let workspaceIds: readonly string[] = [];
  let created: readonly NewBudget[] = [];
  const plan = await inAllWorkspaces(database.tenant, (tx) =>
    once(tx, ctx, async () => {
      const { name, ...allowances } = parseBody(createPlanBody, input.body);
      await lockPlans(tx);
      const rows = await listPlanRows(tx, ctx.workspaceId);
      if (
        name === unlimitedPlan ||
        limits.operatorPlans.has(name) ||
        rows.some((row) => row.name === name)
      )
        throw new ApiError("conflict", `There is a plan ${name} already. Choose another name.`);
      if (rows.length >= maxPlans)
        throw new ApiError(
          "conflict",
          `There are ${maxPlans} plans, which is the maximum. Delete one that no workspace is on.`,
        );
      const row = await insertPlan(
        tx,
        { id: newId("pln"), workspaceId: ctx.workspaceId, name },
        allowances,
      );
      workspaceIds = (await findWorkspacesOn(tx, [name])).slice(0, maxWorkspaces);
      created = await applyPlans(tx, limits, workspaceIds);
      await record(tx, ctx, {
        action: "plan.create",
        target: row.id,
        data: { name, ...allowances },
      });
      return toPlan(row);
    }),
  );
  await announceLimits(ctx, workspaceIds, created);
  // Also for a replayed response: the first request may not have reached all workspaces.
  await applyPlanToOthers(ctx, plan.data.name);
  return plan;
}
