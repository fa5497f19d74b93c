import {
  type Ceiling,
  type CeilingScope,
  ceilingScope,
  type Scope,
  workspaceScopes,
} from "@beckon/contract";
import { agentLimit, type Context, scopesBeyond } from "../../base/context.ts";
import { ApiError } from "../../base/errors.ts";
import type { BudgetKey } from "../budgets/index.ts";
import type { CeilingRef, CeilingRow } from "./store.ts";

/**
 * The permission that an actor needs to read the name of the resource to which a ceiling applies.
 */
const readers: Readonly<Record<CeilingScope, Scope>> = {
  workspace: "workspaces:read",
  agent: "agents:read",
  key: "keys:read",
  trigger: "triggers:read",
};

/**
 * Returns a ceiling as responses show it. Its `name` is that of the workspace, agent, key or
 * trigger; null if that was deleted, or if the actor cannot read it.
 */
export function toCeiling(ctx: Context, row: CeilingRow): Ceiling {
  const [limit, spent, reserved] = [row.limit_micros, row.spent, row.reserved].map(Number) as [
    number,
    number,
    number,
  ];
  return {
    scope: row.scope_kind,
    scope_id: row.scope_id,
    name: canRead(ctx, readers[row.scope_kind]) ? row.name : null,
    limit_micros: limit,
    pauses_agent: row.pauses_agent,
    spent_micros: spent,
    reserved_micros: reserved,
    left_micros: Math.max(0, limit - spent - reserved),
    reached: row.reached,
    starts_at: row.starts.toISOString(),
    resets_at: row.ends.toISOString(),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

function canRead(ctx: Context, scope: Scope): boolean {
  // The same rule as in `permit`: a key that is limited to agents cannot use scopes that concern
  // the whole workspace.
  if (workspaceScopes.includes(scope) && agentLimit(ctx) !== undefined) return false;
  return scopesBeyond(ctx, [scope]).length === 0;
}

/** Returns the key of the budget that counts what is spent of a ceiling. */
export function budgetOf(workspaceId: string, { scope, scopeId }: CeilingRef): BudgetKey {
  return { workspaceId, scopeId, scopeKind: scope, metric: "cost" };
}

/**
 * Returns the reference to the ceiling at the path `/limits/:scope/:scope_id`.
 * @throws ApiError `not_found` if there is no such scope.
 */
export function refOf({ scope, scopeId }: { scope: string; scopeId: string }): CeilingRef {
  const known = ceilingScope.safeParse(scope);
  if (known.success) return { scope: known.data, scopeId };
  throw new ApiError(
    "not_found",
    `There is no scope with this name. Limits apply to ${ceilingScope.options.join(", ")}.`,
  );
}

/**
 * Returns the error for an id of a workspace, agent, key or trigger that does not exist in the
 * workspace or that the credential cannot see.
 */
export function noScope(scope: string): ApiError {
  return new ApiError(
    "not_found",
    `There is no ${scope} with this id that this credential can see.`,
  );
}

/** Returns the error for a workspace, agent, key or trigger that has no ceiling. */
export function noCeiling({ scope, scopeId }: CeilingRef): ApiError {
  return new ApiError(
    "not_found",
    `This ${scope} has no ceiling. Set one with PUT /api/public/limits/${scope}/${scopeId}.`,
  );
}
