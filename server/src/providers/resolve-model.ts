import type { Context, OperatorProvider } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { addressOf } from "./address.ts";
import { modelMistake } from "./model-mistake.ts";
import { findProvidersByName, listProviderNames, type ProviderRow } from "./store.ts";

type Operated = Pick<Context, "workspaceId" | "operator">;

/**
 * The operator's providers by name, as `findNamedByModels` returns them. Undefined for a name that
 * none has.
 */
export type FoundProviders = ReadonlyMap<string, OperatorProvider | undefined>;

const providerNameOf = (model: string) => model.slice(0, model.indexOf("/"));

/**
 * Returns the id of the workspace's provider that `provider/model` names, or null if it names a
 * built-in model or an operator's provider. A workspace's own provider takes precedence over an
 * operator's provider with the same name. An agent's version stores the returned id. A version with
 * an id never uses the operator's provider, even if the workspace's provider is deleted.
 *
 * @param before the model that the agent had before; undefined for a new agent. The same model is
 *   accepted again even while its model server is stopped.
 * @throws ApiError `bad_request` if the model's name is invalid, or if there is no such provider or
 *   built-in model. In the second case the message lists the providers.
 */
export async function resolveModel(
  tx: WorkspaceTransaction,
  ctx: Operated,
  model: string,
  before?: string,
): Promise<string | null> {
  return (await modelResolver(tx, ctx, [model]))(model, before);
}

/**
 * Returns the operator's providers that the models name. Call it before the transaction in which
 * the models are resolved: it probes model servers, which takes up to a second.
 */
export async function findNamedByModels(
  { workspaceId, operator }: Operated,
  models: readonly string[],
): Promise<FoundProviders> {
  const names = [...new Set(models.map(providerNameOf))];
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await operator?.find(workspaceId, name)] as const),
    ),
  );
}

/**
 * Reads the workspace's providers that the models name, with one statement.
 * @param found the result of `findNamedByModels`. Without it, the returned function finds the
 *   operator's providers, and can wait for a probe of each.
 * @returns a function that resolves each of these models as `resolveModel` does.
 */
export async function modelResolver(
  tx: WorkspaceTransaction,
  ctx: Operated,
  models: readonly string[],
  found: FoundProviders = new Map(),
): Promise<(model: string, before?: string) => Promise<string | null>> {
  const names = new Set(models.map(providerNameOf));
  names.delete("demo");
  const rows = await findProvidersByName(tx, ctx.workspaceId, [...names]);
  return (model, before) => resolveWith(tx, ctx, { rows, found }, { model, before });
}

async function resolveWith(
  tx: WorkspaceTransaction,
  { workspaceId, operator }: Operated,
  { rows, found }: { readonly rows: readonly ProviderRow[]; readonly found: FoundProviders },
  { model, before }: { readonly model: string; readonly before: string | undefined },
): Promise<string | null> {
  if (model === "demo/echo") return null;
  const name = providerNameOf(model);
  const modelId = model.slice(name.length + 1);
  const row = rows.find((each) => each.name === name);
  const absence = operator?.absence(workspaceId, name);
  // A model server accepts every name of a model, so a probe would not change the result.
  if (row === undefined && absence !== undefined && model === before) return null;
  const find = async () =>
    found.has(name) ? found.get(name) : await operator?.find(workspaceId, name);
  const kind = row === undefined ? (await find())?.kind : addressOf(row).kind;
  if (kind !== undefined) {
    const mistake = modelMistake(kind, modelId);
    if (mistake !== undefined) throw new ApiError("bad_request", `model: ${mistake}.`);
    return row?.id ?? null;
  }
  const own = await listProviderNames(tx, workspaceId);
  const offered = operator?.usableBy(workspaceId) ?? [];
  const names = [...new Set([...own, ...offered.map((provider) => provider.name)])];
  throw new ApiError(
    "bad_request",
    `model: there is no ${name === "demo" ? `model ${model}` : `provider ${name}`}. ` +
      (absence === undefined ? "" : `${absence} `) +
      `Models here begin with ${[...names.map((known) => `${known}/`), "demo/echo"].join(", ")}; ` +
      "add a provider with POST /api/public/providers.",
  );
}
