import type { Context } from "../base/context.ts";
import type { WorkspaceTransaction } from "../base/database/index.ts";
import { ApiError } from "../base/errors.ts";
import { addressOf } from "./address.ts";
import { modelMistake } from "./model-mistake.ts";
import { findProviderByName, listProviderNames } from "./store.ts";

/**
 * Returns the id of the provider that `provider/model` names, or null for a built-in model and for
 * a provider of the operator. An agent's version stores this id: a workspace's own provider takes
 * precedence over the operator's of the same name, and a version that stores it never falls back to
 * the operator's.
 *
 * @param before the model that the agent had before: it stays valid while the model server of its
 *   name is stopped.
 * @throws ApiError `bad_request` that lists the providers, or says why there is no such model.
 */
export async function resolveModel(
  tx: WorkspaceTransaction,
  { workspaceId, operator }: Pick<Context, "workspaceId" | "operator">,
  model: string,
  before?: string,
): Promise<string | null> {
  if (model === "demo/echo") return null;
  const name = model.slice(0, model.indexOf("/"));
  const modelId = model.slice(name.length + 1);
  const row = name === "demo" ? undefined : await findProviderByName(tx, workspaceId, name);
  const kind =
    row === undefined ? (await operator?.find(workspaceId, name))?.kind : addressOf(row).kind;
  if (kind !== undefined) {
    const mistake = modelMistake(kind, modelId);
    if (mistake !== undefined) throw new ApiError("bad_request", `model: ${mistake}.`);
    return row?.id ?? null;
  }
  const absence = operator?.absence(workspaceId, name);
  if (absence !== undefined && model === before) return null;
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
