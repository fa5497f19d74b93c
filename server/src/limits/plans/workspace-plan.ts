import { unlimitedPlan, type WorkspacePlan } from "@beckon/contract";
import type { WorkspacePlanRow } from "./workspace-plan-store.ts";

export function toWorkspacePlan(row: WorkspacePlanRow): WorkspacePlan {
  return {
    workspace_id: row.id,
    workspace_name: row.name,
    time_zone: row.time_zone,
    plan: row.plan ?? unlimitedPlan,
    next_plan: nextPlanOf(row),
    anchor_day: row.plan_anchor,
  };
}

/** Returns the planned change of the plan; null if there is none. */
export function nextPlanOf({ next_plan, next_at }: WorkspacePlanRow): WorkspacePlan["next_plan"] {
  if (next_plan === null || next_at === null) return null;
  return { plan: next_plan, starts_at: next_at.toISOString() };
}
