import type { WorkspaceTransaction } from "../base/database/index.ts";
import { Refusal } from "../base/errors.ts";
import { findProviderByName, listProviderNames } from "./store.ts";

/**
 * The id of the provider that `provider/model` names, or null for a built-in one. What an agent's version pins is this id.
 * @throws Refusal `bad_request` that lists the providers there are.
 */
export async function resolveModel(tx: WorkspaceTransaction, workspaceId: string, model: string): Promise<string | null> {
  if (model === "demo/echo") return null;
  const name = model.slice(0, model.indexOf("/"));
  const row = name === "demo" ? undefined : await findProviderByName(tx, workspaceId, name);
  if (row !== undefined) return row.id;
  const names = await listProviderNames(tx, workspaceId);
  throw new Refusal(
    "bad_request",
    `model: there is no ${name === "demo" ? `model ${model}` : `provider ${name}`}. Models here begin with ${[...names.map((known) => `${known}/`), "demo/echo"].join(", ")}; add a provider with POST /api/public/providers.`,
  );
}
