import type { WorkspacePlan } from "@beckon/client";

/** What the form for the plan of a workspace has selected. */
export interface PlanChoice {
  readonly plan: string;
  /** When another plan takes effect. Without another plan it has no meaning. */
  readonly takesEffect: "now" | "period_end";
  readonly anchorDay: number;
  /** Whether a planned change is cancelled. */
  readonly isCancelled: boolean;
}

/**
 * Returns whether the change that was planned at first is still planned. If not, cancelling it
 * would undo what somebody else has done meanwhile.
 */
export function isStillPlanned(
  initial: Pick<WorkspacePlan, "plan" | "next_plan">,
  { plan, next_plan }: Pick<WorkspacePlan, "plan" | "next_plan">,
): boolean {
  return plan === initial.plan && next_plan?.plan === initial.next_plan?.plan;
}

/**
 * Returns the body of the request that changes the plan of a workspace from `initial` to `choice`;
 * an empty one if they are the same. It contains the plan only if it is another one, or to cancel a
 * planned change: the server cancels it if a plan takes effect now, even the current one.
 */
export function planChange(
  initial: Pick<WorkspacePlan, "plan" | "anchor_day">,
  { plan, takesEffect, anchorDay, isCancelled }: PlanChoice,
) {
  const isOther = plan !== initial.plan;
  return {
    ...(isOther || isCancelled
      ? { plan, takes_effect: isOther ? takesEffect : ("now" as const) }
      : {}),
    ...(anchorDay === initial.anchor_day ? {} : { anchor_day: anchorDay }),
  };
}
