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
  /** The key before it, whose secrets are encrypted with the new key. */
  readonly previousMasterKey: string | undefined;
  /** The operator has declared the previous key lost. */
  readonly masterKeyLost: boolean;
}

/**
 * Makes the database's master key equal to the settings. The caller holds the migration lock;
 * `client` sees all workspaces.
 *
 * - Secrets of the previous key are encrypted with the new one, the check value last. A kill at any
 *   moment leaves secrets of both keys, which a server with both settings decrypts, and the next
 *   startup continues. Every startup with a previous key does this, not only the first: other
 *   machines encrypt with the old key until they are restarted.
 * - Secrets of a lost key are unreadable. Everything else works, since credentials are verified by
 *   their hashes.
 *
 * @throws ConfigError if the database was encrypted with another key and the settings neither name
 *   it nor declare it lost.
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
    for (const reEncrypt of [
      reEncryptTokens,
      resealProviderKeys,
      reEncryptToolSecrets,
      reEncryptResponses,
    ]) {
      const counts = await reEncrypt(client, { from: previous, to: current });
      if (counts.reEncrypted > 0) log.info(counts, "encrypted with the new master key");
      if (counts.unreadable > 0)
        log.warn(
          counts,
          "secrets could not be decrypted with the previous master key: they were altered or moved",
        );
    }
  }
  if (checked !== "current") await replaceMasterKeyCheck(client, current);
  if (checked === "lost")
    log.warn("the old master key was declared lost: its secrets cannot be decrypted any more");
  if (keys.masterKeyLost)
    log.warn("BECKON_MASTER_KEY_LOST is set: unset it, or the next start accepts any wrong key");
}
