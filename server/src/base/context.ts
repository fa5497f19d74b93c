import { type ProviderKind, type Role, type Scope, workspaceScopes } from "@beckon/contract";
import type { Database } from "./database/index.ts";
import { ApiError, type Result } from "./errors.ts";
import type { SecretCipher } from "./secrets/index.ts";

/** Who acts. An agent token reads and cancels its own agent's runs and may do nothing else. */
export type Actor =
  | {
      readonly kind: "key";
      readonly id: string;
      readonly scopes: readonly string[];
      /** It sees and does these agents, their triggers and runs, and nothing else; null: it is not limited. */
      readonly agentIds: readonly string[] | null;
    }
  /** A member who is signed in. `scopes` are those that the role stands for at this moment. */
  | {
      readonly kind: "user";
      readonly id: string;
      readonly role: Role;
      readonly scopes: readonly string[];
    }
  | { readonly kind: "token"; readonly agentId: string }
  | { readonly kind: "system" };

/** As much of an actor as tells it from all others. */
export type Principal =
  | { readonly kind: "key" | "user"; readonly id: string }
  | { readonly kind: "token"; readonly agentId: string }
  | { readonly kind: "system" };

/** What a caller sent to make a repeat of this request safe: see `base/idempotency`. */
export interface IdempotencyRequest {
  /** Method and path: the same key on another route is another request. */
  readonly route: string;
  /** Not ok: the header is no usable key, or the body could not be read. */
  readonly binding: Result<IdempotencyBinding>;
}

/** An Idempotency-Key and what it is bound to. */
export interface IdempotencyBinding {
  readonly key: string;
  /** SHA-256 of the raw body. */
  readonly bodyHash: Buffer;
}

/** A provider of models that belongs to the operator, not to a workspace. */
export interface OperatorProvider {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** `environment`: an account in the settings. `discovered`: a model server on this machine. */
  readonly origin: "environment" | "discovered";
  /** What a discovered server listed when it was last probed; undefined for an account. */
  readonly models?: readonly string[];
}

/** The operator's providers, as this process knows them. */
export interface OperatorProviders {
  /** The operator's own workspace, whose owners see addresses. */
  readonly workspaceId: string;
  /** Returns the providers that this workspace can use, as of the last probe. */
  usableBy(workspaceId: string): readonly OperatorProvider[];
  /**
   * Returns the provider of this name if the workspace can use it. A model server is probed again
   * unless it was within the last second.
   */
  find(workspaceId: string, name: string): Promise<OperatorProvider | undefined>;
  /**
   * Probes the model servers that the workspace can use and that were not probed within the last
   * 30 s. Never rejects.
   */
  probe(workspaceId: string): Promise<void>;
  /**
   * Returns what to do if `find` returned undefined for a model server that the workspace could
   * use; undefined for any other name.
   */
  absence(workspaceId: string, name: string): string | undefined;
}

/** Handed to every verb: who acts, where, and what with. */
export interface Context {
  readonly actor: Actor;
  readonly workspaceId: string;
  /** Where the request came from, for the record; absent: from inside. */
  readonly address?: string | undefined;
  readonly database: Database;
  readonly cipher: SecretCipher;
  /** Absent: none are set up. */
  readonly operator?: OperatorProviders | undefined;
  readonly idempotency?: IdempotencyRequest | undefined;
  /** `If-Match`, without quotes: the version the caller has seen. */
  readonly ifMatch?: string | undefined;
}

/** The actor in records and scopes of idempotency, for example `key:key_01…`. */
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
 * @throws ApiError `forbidden` unless the actor has the scope, or when it is limited to agents and the scope is about more than these.
 *   Agent tokens have none: verbs that serve them say so themselves.
 */
export function permit(ctx: Pick<Context, "actor">, scope: Scope): void {
  const { actor } = ctx;
  if (actor.kind === "key" && workspaceScopes.includes(scope)) permitBeyondAgents(ctx);
  const mayAct = actor.kind === "key" || actor.kind === "user";
  if (actor.kind === "system" || (mayAct && actor.scopes.includes(scope))) return;
  throw new ApiError("forbidden", lacks(actor, scope));
}

function lacks(actor: Actor, scope: Scope): string {
  switch (actor.kind) {
    case "token":
      return "An agent token can only invoke its agent and read or cancel that agent's runs. Use a workspace key for this.";
    case "user":
      return `Your role here, ${actor.role}, does not include ${scope}. Ask an owner or admin of the workspace.`;
    default:
      return `This key lacks the scope ${scope}. Use a key that has it.`;
  }
}

/**
 * Nobody gives more than they have, neither to a key nor to a person.
 * @returns those of `scopes` that the actor lacks.
 */
export function scopesBeyond(
  { actor }: Pick<Context, "actor">,
  scopes: readonly string[],
): string[] {
  if (actor.kind === "system") return [];
  const own = actor.kind === "token" ? [] : actor.scopes;
  return scopes.filter((scope) => !own.includes(scope));
}

/** The agents to which the actor is limited, or undefined: it may see all of its workspace. Every look-up and every list asks. */
export function agentLimit({ actor }: Pick<Context, "actor">): readonly string[] | undefined {
  if (actor.kind === "token") return [actor.agentId];
  return (actor.kind === "key" ? actor.agentIds : null) ?? undefined;
}

/** Whether this agent, with all that hangs on it, exists for the actor. */
export function mayTouchAgent(ctx: Context, agentId: string): boolean {
  return agentLimit(ctx)?.includes(agentId) ?? true;
}

/** @throws ApiError `forbidden` for an actor that is limited to some agents. */
export function permitBeyondAgents(ctx: Pick<Context, "actor">): void {
  if (agentLimit(ctx) === undefined) return;
  throw new ApiError(
    "forbidden",
    "This key is limited to some agents, and this is about more than these. Use a key without that limit.",
  );
}
