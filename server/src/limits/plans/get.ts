import type { Plan } from "@beckon/contract";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { noPlan, toPlan } from "./plan.ts";
import { findPlan } from "./store.ts";

/** Returns a plan that was created through the API. @throws ApiError `forbidden`, `not_found` */
export async function getPlan({
  ctx,
  input,
}: {
  ctx: Context;
  input: { planId: string };
}): Promise<Plan> {
  permit(ctx, "plans:write");
  // The workspace is not checked: all rows of plans belong to the workspace `default`, so the query
  // finds none in another workspace.
  const row = await inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    findPlan(tx, ctx.workspaceId, input.planId),
  );
  if (row === undefined) throw noPlan();
  return toPlan(row);
}
