import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { addressOf } from "./address.ts";
import { modelMistake } from "./model-mistake.ts";
import { findProviderByName, listProviderNames } from "./store.ts";

/**
 * The id of the provider that `provider/model` names, or null for a built-in model and for a provider of the operator's. What an
 * agent's version pins is this id: a workspace's own provider goes before the operator's of the same name, and a version that
 * has pinned the own one never falls back to the operator's, whatever becomes of it.
 *
 * @throws ApiError `bad_request` that lists the providers there are, or says why there can be no such model.
 */
export async function resolveModel(
  tx: WorkspaceTransaction,
  { workspaceId, operator }: Pick<Context, "workspaceId" | "operator">,
  model: string,
): Promise<string | null> {
  if (model === "demo/echo") return null;
  const name = model.slice(0, model.indexOf("/"));
  const modelId = model.slice(name.length + 1);
  const row = name === "demo" ? undefined : await findProviderByName(tx, workspaceId, name);
  const offered = operator?.usableBy(workspaceId) ?? [];
  const kind =
    row === undefined
      ? offered.find((provider) => provider.name === name)?.kind
      : addressOf(row).kind;
  if (kind !== undefined) {
    const mistake = modelMistake(kind, modelId);
    if (mistake !== undefined) throw new ApiError("bad_request", `model: ${mistake}.`);
    return row?.id ?? null;
  }
  const own = await listProviderNames(tx, workspaceId);
  const names = [...new Set([...own, ...offered.map((provider) => provider.name)])];
  throw new ApiError(
    "bad_request",
    `model: there is no ${name === "demo" ? `model ${model}` : `provider ${name}`}. Models here begin with ${[...names.map((known) => `${known}/`), "demo/echo"].join(", ")}; add a provider with POST /api/public/providers.`,
  );
}
