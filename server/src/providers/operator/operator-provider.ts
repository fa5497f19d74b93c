import type { Provider } from "@beckon/contract";
import { type Context, type OperatorProvider, scopesBeyond } from "../../base/context.ts";
import { ApiError } from "../../base/errors.ts";
import type { PageRequest } from "../../base/page.ts";

const prefix = "env_";

/** Returns the id of an operator's provider in the API: `env_` and the provider's name. */
export function operatorProviderId({ name }: Pick<OperatorProvider, "name">): string {
  return `${prefix}${name}`;
}

/** Returns the provider's name in an id that begins with `env_`; undefined for other ids. */
export function operatorNameIn(id: string): string | undefined {
  return id.startsWith(prefix) ? id.slice(prefix.length) : undefined;
}

/** Returns the operator's provider with this id; undefined if the workspace cannot use it. */
export async function findOperatorProvider(
  { operator, workspaceId }: Pick<Context, "operator" | "workspaceId">,
  id: string,
): Promise<OperatorProvider | undefined> {
  const name = operatorNameIn(id);
  if (name === undefined) return undefined;
  await operator?.probe(workspaceId);
  return operator?.usableBy(workspaceId).find((provider) => provider.name === name);
}

/**
 * Returns an operator's provider as responses show it. Only owners of the workspace `default` see
 * its address.
 */
export function toOperatorProvider(ctx: Context, provider: OperatorProvider): Provider {
  const isOwner =
    ctx.workspaceId === ctx.operator?.workspaceId &&
    scopesBeyond(ctx, ["workspaces:own"]).length === 0;
  return {
    id: operatorProviderId(provider),
    name: provider.name,
    kind: provider.kind,
    origin: provider.origin,
    base_url: isOwner ? provider.baseUrl : null,
    api_key_last4: null,
    free: false,
    created_at: null,
    updated_at: null,
  };
}

/**
 * Checks that the id does not belong to a provider of the operator.
 * @throws ApiError `conflict` if it does, because the API cannot change such a provider.
 */
export async function rejectOperatorProvider(ctx: Context, id: string): Promise<void> {
  const provider = await findOperatorProvider(ctx, id);
  if (provider === undefined) return;
  const { name, origin } = provider;
  const source =
    origin === "discovered"
      ? "It was found on Beckon's machine; BECKON_DISCOVER=0 turns that off."
      : "It comes from the environment of the server.";
  throw new ApiError(
    "conflict",
    `The provider ${name} is the operator's and cannot be changed here. ${source} To use another one in this workspace, add a provider named ${name}, which takes precedence.`,
  );
}

/** The format of the provider ids in the cursors of lists. */
export const providerIdForm = /^(prv_[0-9a-z]{26}|env_[a-z-]+|demo)$/;

/**
 * Returns those of `entries` that a page of providers can show after the workspace's own providers.
 * They have ids below the page's cursor and are in descending order of their ids. In this order
 * `env_…` and `demo` come after the ids of the workspace's own providers, `prv_…`.
 */
export function afterOwn<T extends { readonly id: string }>(
  { below }: Pick<PageRequest, "below">,
  entries: readonly T[],
): T[] {
  return entries
    .filter(({ id }) => below === undefined || id < below)
    .sort((one, other) => (one.id < other.id ? 1 : -1));
}
