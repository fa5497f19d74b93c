import { randomBytes } from "node:crypto";
import { inspectServer } from "./base/database/index.ts";
import { ConfigError } from "./base/errors.ts";
import { createSecretCipher, identifyMasterKey, parseMasterKey } from "./base/secrets/index.ts";
import type { Config } from "./config.ts";

/**
 * Returns a new master key for the file `path`, which does not exist.
 * @param databaseUrl if undefined, the check is left to the servers.
 * @throws ConfigError if the database was encrypted with a key that the settings do not contain. A
 *   new key in the file would hide that the file is missing, and a copy job could overwrite the
 *   last copy of the old key with it.
 */
export async function newMasterKey(
  path: string,
  databaseUrl: string | undefined,
  settings: Pick<Config, "previousMasterKey" | "masterKeyLost" | "trustStorage">,
): Promise<string> {
  const key = randomBytes(32).toString("base64");
  if (databaseUrl === undefined) return key;
  const { masterKeyCheck } = await inspectServer(databaseUrl, settings);
  // The first startup stores the check value after it has created the file.
  if (masterKeyCheck === undefined) return key;
  const cipherOf = (text: string) => createSecretCipher(parseMasterKey(text));
  const { previousMasterKey: previous, masterKeyLost } = settings;
  const checked = identifyMasterKey(masterKeyCheck, cipherOf(key), {
    previous: previous === undefined ? undefined : cipherOf(previous),
    lost: true,
  });
  if (checked === "previous" || masterKeyLost) return key;
  throw new ConfigError(
    `The master key is missing: ${path} does not exist, and BECKON_MASTER_KEY is not set. Restore ` +
      "the file from a copy, or set BECKON_MASTER_KEY. Only if the key is lost: " +
      "BECKON_MASTER_KEY_LOST=1 starts without the secrets that it encrypted.",
  );
}
