import { type PlanUsage, unlimitedPlan } from "@beckon/contract";
import { type Context, permit, permitAllAgents } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { readMetrics } from "./plan-usage-store.ts";
import { nextPlanOf } from "./workspace-plan.ts";
import { findWorkspacePlan } from "./workspace-plan-store.ts";

/**
 * Returns the workspace's plan, and the amounts used in the current month.
 * @throws ApiError `forbidden`, including for a key that is limited to some agents: a plan covers
 *   all agents.
 */
export async function getPlanUsage({ ctx }: { ctx: Context }): Promise<PlanUsage> {
  permit(ctx, "usage:read");
  permitAllAgents(ctx);
  return inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await findWorkspacePlan(tx, ctx.workspaceId);
    const metrics = await readMetrics(tx, ctx.workspaceId);
    const [first] = metrics;
    if (row === undefined || first === undefined) throw new Error("the workspace has no row");
    return {
      plan: row.plan ?? unlimitedPlan,
      next_plan: nextPlanOf(row),
      anchor_day: row.plan_anchor,
      time_zone: row.time_zone,
      starts_at: first.starts.toISOString(),
      resets_at: first.ends.toISOString(),
      metrics: metrics.map(({ metric, allowed, ...amounts }) => {
        const used = amounts.used === null ? null : Number(amounts.used);
        const reserved = Number(amounts.reserved);
        const allowance = allowed === null ? null : Number(allowed);
        return {
          metric,
          allowance,
          used,
          unknown_cost_entries: Number(amounts.unknown_cost_entries),
          reserved,
          left: allowance === null ? null : Math.max(0, allowance - (used ?? 0) - reserved),
          reached: amounts.reached,
          resets_at: amounts.ends.toISOString(),
        };
      }),
    };
  });
}
