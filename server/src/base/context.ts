import { type ProviderKind, type Role, type Scope, workspaceScopes } from "@beckon/contract";
import type { Database } from "./database/index.ts";
import { ApiError, type Result } from "./errors.ts";
import type { Retention } from "./retention/index.ts";
import type { SecretCipher } from "./secrets/index.ts";
import type { RequestTrace } from "./tracing/index.ts";

/**
 * The caller of an operation. An agent token can only invoke its own agent, and read and cancel
 * that agent's runs.
 */
export type Actor =
  | {
      readonly kind: "key";
      readonly id: string;
      readonly scopes: readonly string[];
      /**
       * The key can only access these agents, their triggers and their runs. null if it can access
       * all agents of the workspace.
       */
      readonly agentIds: readonly string[] | null;
      /** SHA-256 of the secret of the request. Absent if the key is the issuer of a link. */
      readonly secretHash?: Buffer;
    }
  /** A signed-in member. `scopes` are the scopes that the role has at the time of the request. */
  | {
      readonly kind: "user";
      readonly id: string;
      readonly role: Role;
      readonly scopes: readonly string[];
    }
  | { readonly kind: "token"; readonly agentId: string }
  | { readonly kind: "system" };

/** The fields of an actor that identify it. */
export type Principal =
  | { readonly kind: "key" | "user"; readonly id: string }
  | { readonly kind: "token"; readonly agentId: string }
  | { readonly kind: "system" };

/** The Idempotency-Key of a request; see `base/idempotency`. */
export interface IdempotencyRequest {
  /** Method and path. The same key on another route is a different request. */
  readonly route: string;
  /**
   * The key and the hash of the body. An error if the header is not a valid key or the body could
   * not be read.
   */
  readonly binding: Result<IdempotencyBinding>;
}

/**
 * An Idempotency-Key and the hash of the body it was sent with. The same key with another body is
 * an error.
 */
export interface IdempotencyBinding {
  readonly key: string;
  /** SHA-256 of the raw body and, if the request sets them, of a run's labels and callback URL. */
  readonly bodyHash: Buffer;
}

/** A provider of models that belongs to the operator, not to a workspace. */
export interface OperatorProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /**
   * `environment` if settings contain the operator's account at this provider (API key or URL),
   * `discovered` if the provider is a model server that was found on this machine.
   */
  readonly origin: "environment" | "discovered";
  /**
   * Models that a discovered model server listed when it was last probed; undefined if `origin` is
   * `environment`.
   */
  readonly models?: readonly string[];
}

/** The operator's providers, as this process last read and probed them. */
export interface OperatorProviders {
  /**
   * Id of the operator's own workspace, `default`. Only its owners can see the providers' base
   * URLs.
   */
  readonly workspaceId: string;
  /** Returns the providers that this workspace can use, as of the last probe. */
  usableBy(workspaceId: string): readonly OperatorProvider[];
  /**
   * Returns the provider of this name; undefined if the workspace cannot use it. A model server is
   * probed again unless it was probed within the last second.
   */
  find(workspaceId: string, name: string): Promise<OperatorProvider | undefined>;
  /**
   * Probes the model servers that the workspace can use and that were not probed within the last
   * 30 s. Never rejects.
   */
  probe(workspaceId: string): Promise<void>;
  /**
   * Returns whether `name` is a model server on this machine that the workspace can use. The server
   * need not have been found: it may not run, or this process may not have probed it yet.
   */
  isModelServer(workspaceId: string, name: string): boolean;
  /**
   * Returns a message which says that the model server `name` does not respond, and how to start
   * it. Returns undefined if the workspace cannot use a model server of this name.
   */
  absence(workspaceId: string, name: string): string | undefined;
}

/** Passed to every operation: the actor, the workspace and the dependencies. */
export interface Context {
  readonly actor: Actor;
  readonly workspaceId: string;
  /**
   * IP address of the caller, for the audit log. Absent for operations that Beckon starts itself.
   */
  readonly address?: string | undefined;
  readonly database: Database;
  readonly cipher: SecretCipher;
  /** The operator's providers; if absent, there are none. */
  readonly operator?: OperatorProviders | undefined;
  /** How long rows are kept. Absent if it is not known; rows then count as kept for ever. */
  readonly retention?: Retention | undefined;
  readonly idempotency?: IdempotencyRequest | undefined;
  /**
   * The versions in `If-Match`, without quotes. The operation requires that the resource has one of
   * them. Undefined if the request has no such header.
   */
  readonly ifMatch?: readonly string[] | undefined;
  /** Trace of the request; undefined if traces are off. */
  readonly trace?: RequestTrace | undefined;
}

/**
 * Returns the actor as it is written in the audit log and in idempotency scopes, for example
 * `key:key_01…`.
 */
export function principalOf(actor: Principal): string {
  switch (actor.kind) {
    case "key":
    case "user":
      return `${actor.kind}:${actor.id}`;
    case "token":
      return `token:${actor.agentId}`;
    case "system":
      return "system";
  }
}

/**
 * Checks that the actor has `scope`. Agent tokens have no scopes, so operations that accept agent
 * tokens do not call this function for them.
 * @throws ApiError `forbidden` if the actor lacks the scope, or if the actor is a key that is
 *   limited to some agents and the scope concerns the whole workspace.
 */
export function permit(ctx: Pick<Context, "actor">, scope: Scope): void {
  const { actor } = ctx;
  if (actor.kind === "key" && workspaceScopes.includes(scope)) permitAllAgents(ctx);
  const hasScopes = actor.kind === "key" || actor.kind === "user";
  if (actor.kind === "system" || (hasScopes && actor.scopes.includes(scope))) return;
  throw new ApiError("forbidden", lacks(actor, scope));
}

function lacks(actor: Actor, scope: Scope): string {
  switch (actor.kind) {
    case "token":
      return (
        "An agent token can only invoke its agent and read or cancel that agent's runs. " +
        "Use a workspace key for this."
      );
    case "user":
      return (
        `Your role here, ${actor.role}, does not include ${scope}. ` +
        "Ask an owner or admin of the workspace."
      );
    default:
      return `This key lacks the scope ${scope}. Use a key that has it.`;
  }
}

/**
 * Returns those of `scopes` that the actor lacks and therefore cannot grant to a key or a person.
 */
export function scopesBeyond(
  { actor }: Pick<Context, "actor">,
  scopes: readonly string[],
): string[] {
  if (actor.kind === "system") return [];
  const own = actor.kind === "token" ? [] : actor.scopes;
  return scopes.filter((scope) => !own.includes(scope));
}

/**
 * Returns the ids of the agents that the actor is limited to; undefined if it can access all agents
 * of its workspace. Every lookup and every list must apply this limit.
 */
export function agentLimit({ actor }: Pick<Context, "actor">): readonly string[] | undefined {
  if (actor.kind === "token") return [actor.agentId];
  return (actor.kind === "key" ? actor.agentIds : null) ?? undefined;
}

/** Returns whether the actor can access this agent and its triggers and runs. */
export function canAccessAgent(ctx: Context, agentId: string): boolean {
  return agentLimit(ctx)?.includes(agentId) ?? true;
}

/**
 * Checks that the actor can access all agents of its workspace.
 * @throws ApiError `forbidden` if its access is limited to some agents.
 */
export function permitAllAgents(ctx: Pick<Context, "actor">): void {
  if (agentLimit(ctx) === undefined) return;
  throw new ApiError(
    "forbidden",
    "This key is limited to some agents, and this is about more than these. Use a key without " +
      "that limit.",
  );
}

/**
 * Checks the request's `If-Match` header, if there is one.
 * @param resource what has the version, as the message names it, for example `agent`.
 * @param current its current version.
 * @throws ApiError `stale` if the header does not have the current version.
 */
export function requireMatchingVersion(
  { ifMatch }: Pick<Context, "ifMatch">,
  resource: string,
  current: string | number,
): void {
  if (ifMatch === undefined || ifMatch.includes(String(current))) return;
  // A version that is text is a hash. It would tell a person nothing, so the message leaves it out.
  const change = typeof current === "number" ? `is now at version ${current}` : "has been changed";
  throw new ApiError(
    "stale",
    `The ${resource} ${change}. Read it again and apply your change to the current version.`,
  );
}
