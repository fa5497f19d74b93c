import { ConfigError } from "../errors.ts";
import type { SecretBinding, SecretCipher } from "./secret-cipher.ts";

const binding: SecretBinding = {
  workspaceId: "*",
  kind: "check value",
  row: "installation",
  remedy: "",
};

/** The part of a database connection that the check of the master key and the re-encryption use. */
export interface Queryable {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

/**
 * Which key decrypts the check value, a known text that the database stores encrypted. `lost` means
 * that neither key does and that the operator has declared the old key lost.
 */
export type CheckedKey = "current" | "previous" | "lost";

/** What the settings say about the master key before the current one. */
interface OtherKeys {
  readonly previous?: SecretCipher | undefined;
  /** Whether the operator has declared the old key lost. */
  readonly lost?: boolean;
}

/**
 * Checks that the master key is the one that this database was encrypted with. For this it decrypts
 * a check value that is written at the first startup.
 * @throws ConfigError if no given key decrypts the check value and `lost` is false. An error at
 *   startup is better than an error when the first secret is used.
 */
export async function checkMasterKey(
  client: Queryable,
  current: SecretCipher,
  others: OtherKeys = {},
): Promise<CheckedKey> {
  await client.query(
    "update installation set master_key_check = $1 where master_key_check is null",
    [current.encrypt("beckon", binding)],
  );
  const { rows } = await client.query<{ master_key_check: string }>(
    "select master_key_check from installation",
  );
  return identifyMasterKey(rows[0]?.master_key_check ?? "", current, others);
}

/**
 * Returns which key decrypts the check value `encrypted`.
 * @throws ConfigError if no given key decrypts it and `lost` is false.
 */
export function identifyMasterKey(
  encrypted: string,
  current: SecretCipher,
  { previous, lost = false }: OtherKeys,
): CheckedKey {
  if (canDecrypt(current, encrypted)) return "current";
  if (previous !== undefined && canDecrypt(previous, encrypted)) return "previous";
  if (lost) return "lost";
  throw new ConfigError(
    "The master key is not the one that this database was encrypted with. Start with that " +
      "key: BECKON_MASTER_KEY, or the file master.key of " +
      "its data folder. To change it, give the old key as BECKON_MASTER_KEY_PREVIOUS. Only if " +
      "the old key is lost: " +
      "BECKON_MASTER_KEY_LOST=1 starts without the secrets that it encrypted.",
  );
}

/**
 * Replaces the check value, which makes `current` the key of this database. Later startups fail
 * without this key.
 */
export async function replaceMasterKeyCheck(
  client: Queryable,
  current: SecretCipher,
): Promise<void> {
  await client.query("update installation set master_key_check = $1", [
    current.encrypt("beckon", binding),
  ]);
}

function canDecrypt(cipher: SecretCipher, encrypted: string): boolean {
  try {
    return cipher.decrypt(encrypted, binding) === "beckon";
  } catch {
    return false;
  }
}
