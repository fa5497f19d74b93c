import { reEncryptToolSecrets } from "./agents/index.ts";
import { reEncryptResponses } from "./base/idempotency/index.ts";
import type { Log } from "./base/log.ts";
import {
  checkMasterKey,
  createSecretCipher,
  parseMasterKey,
  type Queryable,
  replaceMasterKeyCheck,
} from "./base/secrets/index.ts";
import { resealProviderKeys } from "./providers/index.ts";
import { reEncryptTokens } from "./tokens/index.ts";

export interface MasterKeys {
  readonly masterKey: string;
  /** The key before it: what it sealed is sealed anew. */
  readonly previousMasterKey: string | undefined;
  /** The operator has declared the key before it lost. */
  readonly masterKeyLost: boolean;
}

/**
 * Makes the master key that of the settings. The caller holds the migration lock; `client` sees all workspaces.
 *
 * - What the previous key sealed is sealed with the new one, the check value last. A kill at any moment leaves texts of both keys, which a
 *   server with both settings opens, and the next start goes on. Looked for at every start that has a previous key and not only once: in
 *   an installation of several machines those that still run with the old key go on sealing with it until they are restarted.
 * - A key that is lost leaves what it sealed unreadable and everything else working: credentials are judged by their hashes.
 *
 * @throws ConfigError when it is another key than the database was sealed with, and nothing was said of that one.
 */
export async function reconcileMasterKey(
  client: Queryable,
  keys: MasterKeys,
  log: Log,
): Promise<void> {
  const current = createSecretCipher(parseMasterKey(keys.masterKey));
  const previous =
    keys.previousMasterKey === undefined
      ? undefined
      : createSecretCipher(parseMasterKey(keys.previousMasterKey));
  const checked = await checkMasterKey(client, current, { previous, lost: keys.masterKeyLost });
  if (previous !== undefined && previous.prefix !== current.prefix) {
    for (const reseal of [
      reEncryptTokens,
      resealProviderKeys,
      reEncryptToolSecrets,
      reEncryptResponses,
    ]) {
      const counts = await reseal(client, { from: previous, to: current });
      if (counts.reEncrypted > 0) log.info(counts, "sealed anew with the master key");
      if (counts.unreadable > 0)
        log.warn(
          counts,
          "sealed texts did not open with the previous master key: they were altered or moved",
        );
    }
  }
  if (checked !== "current") await replaceMasterKeyCheck(client, current);
  if (checked === "lost")
    log.warn("the old master key was declared lost: what it sealed cannot be opened any more");
  if (keys.masterKeyLost)
    log.warn(
      "BECKON_MASTER_KEY_LOST is set: unset it, or the next start with a wrong key will not be refused",
    );
}
