import { createPlanBody, maxPlans, type Plan, unlimitedPlan } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { newId } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import type { LimitServices } from "../services.ts";
import { requireOperator, toPlan } from "./plan.ts";
import { insertPlan, listPlanRows, lockPlans } from "./store.ts";

/**
 * Adds a plan.
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
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, (tx) =>
    once(tx, ctx, async () => {
      const { name, ...allowances } = parseBody(createPlanBody, input.body);
      await lockPlans(tx);
      const rows = await listPlanRows(tx, ctx.workspaceId);
      if (
        name === unlimitedPlan ||
        ctx.limits.operatorPlans.has(name) ||
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
      await record(tx, ctx, {
        action: "plan.create",
        target: row.id,
        data: { name, ...allowances },
      });
      return toPlan(row);
    }),
  );
}
