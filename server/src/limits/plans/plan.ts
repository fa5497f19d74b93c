import { type Allowances, type Plan, unlimitedPlan } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import type { WorkspaceTransaction } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import type { LimitServices, PlanSources } from "../services.ts";
import type { OperatorPlans } from "./operator-plans.ts";
import { findPlanByName, type PlanRow } from "./store.ts";

/** Allowances of the built-in plan. */
const noLimits: Allowances = {
  tokens: null,
  voice_ms: null,
  browser_ms: null,
  cost_micros: null,
};

export function allowancesOf(row: PlanRow): Allowances {
  const amount = (text: string | null) => (text === null ? null : Number(text));
  return {
    tokens: amount(row.tokens),
    voice_ms: amount(row.voice_ms),
    browser_ms: amount(row.browser_ms),
    cost_micros: amount(row.cost_micros),
  };
}

/** Converts the row of a plan to a resource of the API. */
export function toPlan(row: PlanRow): Plan {
  return {
    id: row.id,
    name: row.name,
    origin: "api",
    ...allowancesOf(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Returns the plans that are not in the database: the built-in one and those of the operator. */
export function fixedPlans(operatorPlans: OperatorPlans): Plan[] {
  const fixed = { id: null, created_at: null, updated_at: null };
  return [
    { ...fixed, name: unlimitedPlan, origin: "built_in", ...noLimits },
    ...[...operatorPlans].map(
      ([name, allowances]): Plan => ({ ...fixed, name, origin: "operator", ...allowances }),
    ),
  ];
}

/**
 * Returns the allowances of the plan with this name; undefined if there is none. A `name` of null
 * means the built-in plan, which has no limits.
 */
export async function findAllowances(
  tx: WorkspaceTransaction,
  { operatorPlans, operatorWorkspaceId }: PlanSources,
  name: string | null,
): Promise<Allowances | undefined> {
  if (name === null || name === unlimitedPlan) return noLimits;
  const ofOperator = operatorPlans.get(name);
  if (ofOperator !== undefined) return ofOperator;
  const row = await findPlanByName(tx, operatorWorkspaceId, name);
  return row && allowancesOf(row);
}

/**
 * Checks that the request acts in the workspace `default`.
 * @throws ApiError `forbidden` if it does not.
 */
export function requireOperator(ctx: Pick<Context, "workspaceId"> & LimitServices): void {
  if (ctx.workspaceId === ctx.limits.operatorWorkspaceId) return;
  throw new ApiError(
    "forbidden",
    "Only owners and keys of the workspace default can manage plans. Ask one of its owners, or use one of its keys.",
  );
}

/** Returns the error for an id that belongs to no plan that the request can see. */
export function noPlan(): ApiError {
  return new ApiError(
    "not_found",
    "There is no plan with this id that this credential can see. Plans of the operator's file and the built-in plan have no id.",
  );
}
