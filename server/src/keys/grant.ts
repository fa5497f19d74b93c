import { presets, type Scope, workspaceScopes } from "@beckon/contract";
import { type Context, canAccessAgent, scopesBeyond } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { type Expiry, existingAgents, findExpiry, hasCeiling } from "./store.ts";

/** The scopes of a key, and the agents to which it is limited (null if it is not limited). */
export interface Grant {
  readonly scopes: readonly string[];
  readonly agent_ids: readonly string[] | null;
}

/**
 * Returns the scopes that a request body names, or undefined if it names neither scopes nor a
 * preset. If the key is limited to agents, a preset grants only those of its scopes that do not
 * concern the whole workspace.
 * @param agentIds The agents to which the key is limited; null if it is not limited.
 */
export function scopesOf(
  given: { scopes?: readonly Scope[] | undefined; preset?: keyof typeof presets | undefined },
  agentIds: unknown,
) {
  if (given.preset === undefined) return given.scopes && [...new Set(given.scopes)];
  return presets[given.preset].filter(
    (scope) => agentIds === null || !workspaceScopes.includes(scope),
  );
}

/** Returns the expiry that a request body sets, or undefined if it has no expiry field. */
export function expiryOf(given: {
  expires_in_days?: number | null | undefined;
  expires_at?: string | null | undefined;
}): Expiry | undefined {
  if (given.expires_in_days != null) return { days: given.expires_in_days };
  if (given.expires_at != null) return { at: new Date(given.expires_at) };
  return given.expires_in_days === null || given.expires_at === null ? "never" : undefined;
}

/**
 * Checks that the actor has all scopes of a key and can access all agents of the key. Must be
 * called when a key is created, when its scopes, agents or expiry change, and when its secret is
 * rotated, because that response shows the new secret to the actor.
 * @throws ApiError `forbidden`; `bad_request` for scopes that a key limited to agents cannot have.
 */
export function permitGrant(ctx: Context, grant: Grant): void {
  const { actor } = ctx;
  const workspaceWide = grant.scopes.filter((scope) =>
    (workspaceScopes as readonly string[]).includes(scope),
  );
  if (grant.agent_ids !== null && workspaceWide.length > 0) {
    throw new ApiError(
      "bad_request",
      `scopes: a key that is limited to agents cannot have ${workspaceWide.join(", ")}. These scopes concern the whole workspace; leave them out.`,
    );
  }
  const missingScopes = scopesBeyond(ctx, grant.scopes);
  if (missingScopes.length > 0) {
    throw new ApiError(
      "forbidden",
      actor.kind === "user"
        ? `Your role in this workspace, ${actor.role}, does not include ${missingScopes.join(", ")}. You cannot grant scopes that you do not have.`
        : `This key does not have ${missingScopes.join(", ")} and cannot grant what it does not have. Use a key that has all of these scopes.`,
    );
  }
  if (
    actor.kind === "key" &&
    actor.agentIds !== null &&
    (grant.agent_ids === null || grant.agent_ids.some((id) => !canAccessAgent(ctx, id)))
  ) {
    throw new ApiError(
      "forbidden",
      "This key is limited to some agents. Set agent_ids to some of these agents.",
    );
  }
}

/** Returns whether a changed key has a scope or an agent that it did not have before. */
export function addsTo(before: Grant, after: Grant): boolean {
  const agents = before.agent_ids;
  return (
    after.scopes.some((scope) => !before.scopes.includes(scope)) ||
    (agents !== null && (after.agent_ids?.some((id) => !agents.includes(id)) ?? true))
  );
}

/**
 * Returns the latest expiry that the actor can give a key: its own if it is a key; null if there is
 * no limit.
 * @param tx A transaction that sees the actor's workspace and has called `requireUnchangedRights`.
 */
export async function maxExpiryOf(
  tx: WorkspaceTransaction,
  { actor }: Pick<Context, "actor">,
): Promise<Date | null> {
  return actor.kind === "key" ? await findExpiry(tx, actor.id) : null;
}

/**
 * Checks that a key does not outlive the key that grants it. Otherwise a key that expires could
 * make itself permanent, or create a key that replaces it.
 * @param expiresAt When the granted key expires; null for never.
 * @param maxExpiry The result of `maxExpiryOf`.
 * @throws ApiError `forbidden`
 */
export function permitExpiry(expiresAt: Date | null, maxExpiry: Date | null): void {
  if (maxExpiry === null || isWithin(expiresAt, maxExpiry)) return;
  throw new ApiError(
    "forbidden",
    `This key expires at ${maxExpiry.toISOString()} and cannot grant access beyond that time. Send expires_at up to this time, or use a key that expires later.`,
  );
}

/**
 * Checks that a key does not expire after the actor, which receives its new secret. Otherwise a key
 * that expires would have access for longer with the secret of another key.
 * @throws ApiError `forbidden`
 */
export async function permitRotation(
  tx: WorkspaceTransaction,
  ctx: Context,
  key: { readonly expires_at: Date | null },
): Promise<void> {
  const maxExpiry = await maxExpiryOf(tx, ctx);
  if (maxExpiry === null || isWithin(key.expires_at, maxExpiry)) return;
  throw new ApiError(
    "forbidden",
    `The key that sends this request expires at ${maxExpiry.toISOString()} and cannot rotate a key that expires later. Use a key that expires later.`,
  );
}

/**
 * Checks that a key with a ceiling does not get the secret of another key. Otherwise it could start
 * runs that its ceiling does not count.
 * @param tx A transaction that sees the actor's workspace.
 * @throws ApiError `forbidden`
 */
export async function permitOtherSecret(
  tx: WorkspaceTransaction,
  { actor }: Pick<Context, "actor">,
): Promise<void> {
  if (actor.kind !== "key" || actor.scopes.includes("limits:write")) return;
  if (!(await hasCeiling(tx, actor.id))) return;
  throw new ApiError(
    "forbidden",
    "This key has a ceiling, which would not count the runs of another key. Use a key without a ceiling, or one with the scope limits:write.",
  );
}

const isWithin = (expiresAt: Date | null, maxExpiry: Date): boolean =>
  expiresAt !== null && expiresAt <= maxExpiry;

/**
 * Checks that the agents exist. If `ids` is null or empty, there are no agents to check.
 * @throws ApiError `not_found` if an agent does not exist or the actor is not allowed to see it.
 */
export async function requireAgents(
  tx: WorkspaceTransaction,
  ctx: Context,
  ids: readonly string[] | null,
): Promise<void> {
  if (ids === null || ids.length === 0) return;
  const existing = await existingAgents(tx, ctx.workspaceId, ids);
  const missing = ids.find((id) => !existing.includes(id) || !canAccessAgent(ctx, id));
  if (missing !== undefined)
    throw new ApiError(
      "not_found",
      `agent_ids: there is no agent ${JSON.stringify(missing)} in this workspace.`,
    );
}
