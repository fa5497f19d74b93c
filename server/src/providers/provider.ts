import type { Provider } from "@beckon/contract";
import { ApiError } from "../base/errors.ts";
import {
  bindingFor,
  decryptFor,
  encryptFor,
  requireGivenFor,
  type SecretBinding,
  type SecretCipher,
  type SecretOwner,
} from "../base/secrets/index.ts";
import type { ProviderAddress } from "./address.ts";
import type { EncryptedKey, ProviderRow } from "./store.ts";

/**
 * The provider name of the built-in models. No other provider can have this name. The names of the
 * operator's providers are not reserved: a workspace's own provider of the same name takes
 * precedence.
 */
export const reservedName = "demo";

/** Returns a stored provider as responses show it. */
export function toProvider(row: ProviderRow): Provider {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    origin: "workspace",
    base_url: row.base_url,
    api_key_last4: row.api_key_last4,
    free: row.free,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/**
 * Returns the owner of a provider's key. The encryption is bound to this owner and to the origin
 * that the key was given for, so that a ciphertext that was copied from another row cannot be
 * decrypted.
 */
function ownerOfKey({ id, workspace_id }: KeyOwner): SecretOwner {
  return {
    workspaceId: workspace_id,
    kind: "provider key",
    row: [id],
    earlierRow: id,
    remedy: "Set the provider's api_key again.",
  };
}

type KeyOwner = Pick<ProviderRow, "id" | "workspace_id">;

/** Returns the owner and the origin to which the encryption of a stored key is bound. */
export function bindingOfKey(row: KeyOwner & Pick<ProviderRow, "api_key_url">): SecretBinding {
  return bindingFor(ownerOfKey(row), givenFor(row));
}

/**
 * Returns the database columns of a key. The key is encrypted for the origin of the address.
 * Without a key all columns are null.
 */
export function encryptKey(
  cipher: SecretCipher,
  owner: KeyOwner,
  { baseUrl }: ProviderAddress,
  key: string | null | undefined,
): EncryptedKey {
  if (key == null) return { api_key_sealed: null, api_key_last4: null, api_key_url: null };
  const { origin } = new URL(baseUrl);
  return {
    api_key_sealed: encryptFor(cipher, key, ownerOfKey(owner), [origin]),
    // For a key under 12 characters this is empty, because four characters would reveal too much.
    api_key_last4: key.length >= 12 ? key.slice(-4) : "",
    api_key_url: origin,
  };
}

/**
 * Returns the decrypted key; undefined if no key is stored.
 * @throws ApiError `secret_unreadable` if the key cannot be decrypted, or was not given for the
 *   origin of this address.
 */
export function decryptKey(
  cipher: SecretCipher,
  row: KeyOwner & StoredKey,
  { baseUrl }: ProviderAddress,
): string | undefined {
  if (row.api_key_sealed === null) return undefined;
  return decryptFor(
    cipher,
    { sealed: row.api_key_sealed, origins: givenFor(row) },
    ownerOfKey(row),
    new URL(baseUrl).origin,
  );
}

/**
 * Checks that the stored key, if there is one, was given for the origin of this address.
 * @throws ApiError `bad_request` if it was given for another origin.
 */
export function requireKeyFor(row: StoredKey, { baseUrl }: ProviderAddress): void {
  if (row.api_key_sealed === null) return;
  requireGivenFor(
    givenFor(row),
    [new URL(baseUrl).origin],
    (stray) =>
      `api_key: the stored key was not given for ${stray}. Send api_key together with this ` +
      "base_url, or null to remove the stored key.",
  );
}

type StoredKey = Pick<ProviderRow, "api_key_sealed" | "api_key_url">;

/**
 * Returns the origin that the stored key was given for, as a list of one. The list is empty if an
 * earlier version of Beckon, which does not write `api_key_url`, stored the key after migration
 * 0005 had added this column.
 */
function givenFor({ api_key_url }: Pick<ProviderRow, "api_key_url">): string[] {
  return api_key_url === null ? [] : [new URL(api_key_url).origin];
}

/** Returns the error for an id that belongs to no provider of the workspace. */
export function noProvider(): ApiError {
  return new ApiError("not_found", "There is no provider with this id in this workspace.");
}
