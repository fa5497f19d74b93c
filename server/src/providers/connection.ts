import type { Database } from "../base/database/index.ts";
import type { Sealer } from "../base/secrets/index.ts";
import { openKey } from "./provider.ts";
import { findConnection } from "./store.ts";

/** What is needed to call a provider. */
export interface ProviderConnection {
  readonly name: string;
  readonly kind: string;
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
  return { name: row.name, kind: row.kind, baseUrl: row.base_url, apiKey };
}
