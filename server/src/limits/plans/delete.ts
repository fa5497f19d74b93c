import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inAllWorkspaces } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { LimitServices } from "../services.ts";
import { allowancesOf, noPlan } from "./plan.ts";
import { deletePlanRow, findPlan, lockPlans } from "./store.ts";
import { listWorkspacePlanRows } from "./workspace-plan-store.ts";

/**
 * Deletes a plan.
 * @throws ApiError `conflict` if a workspace is on it or changes to it; `forbidden`, `not_found`
 */
export async function deletePlan({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { planId: string };
}): Promise<void> {
  permit(ctx, "plans:write");
  await inAllWorkspaces(ctx.database.tenant, async (tx) => {
    await lockPlans(tx);
    const row = await findPlan(tx, ctx.workspaceId, input.planId);
    if (row === undefined) throw noPlan();
    const [used] = await listWorkspacePlanRows(tx, {
      plan: row.name,
      below: undefined,
      limit: 1,
    });
    if (used !== undefined)
      throw new ApiError(
        "conflict",
        `The workspace ${used.id} is on the plan ${row.name} or changes to it. Set another plan with PATCH /api/public/workspace-plans/${used.id} first. GET /api/public/workspace-plans?plan=${row.name} lists all such workspaces.`,
      );
    await deletePlanRow(tx, row);
    await record(tx, ctx, {
      action: "plan.delete",
      target: row.id,
      data: { name: row.name, ...allowancesOf(row) },
    });
  });
}
