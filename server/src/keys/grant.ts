import { presets, type Scope, workspaceScopes } from "@beckon/contract";
import { type Context, canAccessAgent, scopesBeyond } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Expiry, livingAgents } from "./store.ts";

/** What a key may do, and with which agents. */
export interface Grant {
  readonly scopes: readonly string[];
  readonly agent_ids: readonly string[] | null;
}

/** The scopes a body asks for; a preset stands for those it can have: a key limited to agents none that are about more. */
export function scopesOf(
  given: { scopes?: readonly Scope[] | undefined; preset?: keyof typeof presets | undefined },
  agentIds: unknown,
) {
  if (given.preset === undefined) return given.scopes && [...new Set(given.scopes)];
  return presets[given.preset].filter(
    (scope) => agentIds === null || !workspaceScopes.includes(scope),
  );
}

/** The expiry a body asks for, or undefined when it says nothing of it. */
export function expiryOf(given: {
  expires_in_days?: number | null | undefined;
  expires_at?: string | null | undefined;
}): Expiry | undefined {
  if (given.expires_in_days != null) return { days: given.expires_in_days };
  if (given.expires_at != null) return { at: new Date(given.expires_at) };
  return given.expires_in_days === null || given.expires_at === null ? "never" : undefined;
}

/**
 * Nobody gives more than they have, neither when it makes a key nor when it changes one or takes over its secret.
 * @throws ApiError `forbidden`; `bad_request` for scopes that a key limited to agents cannot have.
 */
export function permitGrant(ctx: Context, grant: Grant): void {
  const { actor } = ctx;
  const beyond = grant.scopes.filter((scope) =>
    (workspaceScopes as readonly string[]).includes(scope),
  );
  if (grant.agent_ids !== null && beyond.length > 0) {
    throw new ApiError(
      "bad_request",
      `scopes: a key that is limited to agents cannot have ${beyond.join(", ")}: they are about more.`,
    );
  }
  const lacking = scopesBeyond(ctx, grant.scopes);
  if (lacking.length > 0) {
    throw new ApiError(
      "forbidden",
      actor.kind === "user"
        ? `Your role here, ${actor.role}, does not include ${lacking.join(", ")}, so you cannot give it to a key.`
        : `A key cannot give what it lacks itself: ${lacking.join(", ")}. Use a key that has all of these.`,
    );
  }
  if (
    actor.kind === "key" &&
    actor.agentIds !== null &&
    (grant.agent_ids === null || grant.agent_ids.some((id) => !canAccessAgent(ctx, id)))
  ) {
    throw new ApiError(
      "forbidden",
      "This key is limited to some agents: what it makes must be limited to these, by agent_ids.",
    );
  }
}

/** @throws ApiError `not_found` unless all these agents live, here, and exist for the actor. */
export async function requireAgents(
  tx: WorkspaceTransaction,
  ctx: Context,
  ids: readonly string[] | null,
): Promise<void> {
  if (ids === null) return;
  const living = await livingAgents(tx, ctx.workspaceId, ids);
  const missing = ids.find((id) => !living.includes(id) || !canAccessAgent(ctx, id));
  if (missing !== undefined)
    throw new ApiError(
      "not_found",
      `agent_ids: there is no agent ${JSON.stringify(missing)} in this workspace.`,
    );
}
