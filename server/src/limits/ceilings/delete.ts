import { record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { deleteBudgets, lockBudgets } from "../budgets/index.ts";
import type { LimitServices } from "../services.ts";
import { budgetOf, noCeiling, noScope, refOf } from "./ceiling.ts";
import { deleteCeilingRow, findScopeName } from "./store.ts";

/**
 * Deletes the ceiling of the workspace or of an agent, key or trigger. Runs that are held or wait
 * because of this ceiling try again at once.
 * @throws ApiError `forbidden`, `not_found`
 */
export async function deleteCeiling({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { scope: string; scopeId: string };
}): Promise<void> {
  permit(ctx, "limits:write");
  const { workspaceId, database } = ctx;
  const ref = refOf(input);
  const budget = budgetOf(workspaceId, ref);
  await inWorkspace(database.tenant, workspaceId, async (tx) => {
    await lockBudgets(tx, [budget]);
    const before = await deleteCeilingRow(tx, workspaceId, ref);
    if (before === undefined) {
      const name = await findScopeName(tx, workspaceId, ref);
      throw name === undefined ? noScope(ref.scope) : noCeiling(ref);
    }
    await deleteBudgets(tx, [budget]);
    await record(tx, ctx, {
      action: "limit.delete",
      target: ref.scopeId,
      data: { scope: ref.scope, ...before },
    });
  });
  ctx.limits.changed([workspaceId]);
}
