import type { Database } from "../base/database/index.ts";
import type { SecretCipher } from "../base/secrets/index.ts";
import { addressOf, type ProviderAddress } from "./address.ts";
import { openKey } from "./provider.ts";
import { type ConnectionRow, findConnection } from "./store.ts";

/** Name, address and key of a provider. */
export interface ProviderConnection extends ProviderAddress {
  readonly name: string;
  readonly apiKey: string | undefined;
}

/** The connection to a workspace's own provider. */
export interface OwnConnection extends ProviderConnection {
  /** Whether calls of the provider cost nothing. */
  readonly isFree: boolean;
}

/**
 * Returns the connection to a workspace's provider; undefined if the provider was deleted.
 * The result is for the process that executes runs. It must not be sent in a response.
 * @throws ApiError `secret_unreadable` if the key was encrypted with another master key, or was
 *   given for another origin.
 */
export async function connectionOf(
  database: Database,
  cipher: SecretCipher,
  provider: { id: string; workspaceId: string },
): Promise<OwnConnection | undefined> {
  const row = await findConnection(database, provider);
  return row && toConnection(cipher, row);
}

/**
 * Returns the address and the decrypted key of a stored provider.
 * @throws ApiError `secret_unreadable` in the same cases as `connectionOf`.
 */
export function toConnection(cipher: SecretCipher, row: ConnectionRow): OwnConnection {
  const address = addressOf(row);
  const apiKey = openKey(cipher, row, address);
  return { name: row.name, ...address, apiKey, isFree: row.free };
}
