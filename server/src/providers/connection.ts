import { defaultBaseUrls, type ProviderKind, providerKind } from "@beckon/contract";
import type { Database } from "../base/database/index.ts";
import type { Sealer } from "../base/secrets/index.ts";
import { openKey } from "./provider.ts";
import { findConnection } from "./store.ts";

/** What is needed to call a provider. */
export interface ProviderConnection {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/**
 * Reads how to call a provider, its key in clear; for the executing process, never for an answer.
 * @returns undefined when the provider was deleted.
 * @throws Refusal `secret_unreadable` when its key was sealed with another master key.
 */
export async function connectionOf(
  database: Database,
  sealer: Sealer,
  provider: { id: string; workspaceId: string },
): Promise<ProviderConnection | undefined> {
  const row = await findConnection(database, provider);
  if (row === undefined) return undefined;
  const apiKey = openKey(sealer, { id: provider.id, workspace_id: provider.workspaceId, api_key_sealed: row.api_key_sealed });
  return { name: row.name, ...placeOf(row), apiKey };
}

/** The kind of a stored provider, and where its API is. */
export function placeOf(row: { readonly kind: string; readonly base_url: string | null }): Pick<ProviderConnection, "kind" | "baseUrl"> {
  const kind = providerKind.parse(row.kind);
  return { kind, baseUrl: rootOf(kind, row.base_url ?? undefined) };
}

/** The root of a kind's API, without a slash at its end: `given`, else the kind's own. Anthropic's is often given as its host alone. */
export function rootOf(kind: ProviderKind, given: string | undefined): string {
  const root = (given ?? (kind === "openai-compatible" ? undefined : defaultBaseUrls[kind]))?.replace(/\/+$/, "");
  if (root === undefined) throw new Error("an openai-compatible provider has no base URL");
  return kind === "anthropic" && `${root}/v1` === defaultBaseUrls.anthropic ? defaultBaseUrls.anthropic : root;
}
