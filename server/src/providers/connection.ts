import type { Database } from "../base/database/index.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import { addressOf, type ProviderAddress } from "./address.ts";
import { openKey } from "./provider.ts";
import { type ConnectionRow, findConnection } from "./store.ts";

/** Address and key of a provider. */
export interface ProviderConnection extends ProviderAddress {
  readonly name: string;
  readonly apiKey: string | undefined;
}

/**
 * Returns address and key, in clear, of a provider, undefined if it was deleted. For the executing
 * process, never for a response.
 * @throws ApiError `secret_unreadable` if the key was encrypted with another master key, or was
 *   given for another origin.
 */
export async function connectionOf(
  database: Database,
  cipher: SecretCipher,
  provider: { id: string; workspaceId: string },
): Promise<ProviderConnection | undefined> {
  const row = await findConnection(database, provider);
  return row && toConnection(cipher, row);
}

/**
 * Returns address and key of a stored provider.
 * @throws ApiError `secret_unreadable` as `connectionOf` does.
 */
export function toConnection(cipher: SecretCipher, row: ConnectionRow): ProviderConnection {
  const address = addressOf(row);
  return { name: row.name, ...address, apiKey: openKey(cipher, row, address) };
}
