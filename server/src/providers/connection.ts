import type { Database } from "../base/database/index.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import { addressOf, type ProviderAddress } from "./address.ts";
import { decryptKey } from "./provider.ts";
import { type ConnectionRow, findConnection } from "./store.ts";

/** Name, address and key of a provider. */
export interface ProviderConnection extends ProviderAddress {
  readonly name: string;
  readonly apiKey: string | undefined;
}

/**
 * Returns the address and the decrypted key of a provider; undefined if the provider was deleted.
 * The result is for the process that executes runs. It must not be sent in a response.
 * @throws ApiError `secret_unreadable` if the key was encrypted with another master key, or was
 *   entered for a base URL with another origin.
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
 * Returns the address and the decrypted key of a stored provider.
 * @throws ApiError `secret_unreadable` in the same cases as `connectionOf`.
 */
export function toConnection(cipher: SecretCipher, row: ConnectionRow): ProviderConnection {
  const address = addressOf(row);
  return { name: row.name, ...address, apiKey: decryptKey(cipher, row, address) };
}
