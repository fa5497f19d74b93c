import { deleteAllSessions } from "./accounts/index.ts";
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
import { reEncryptSubscriptions } from "./deliveries/index.ts";
import { reEncryptProviderKeys } from "./providers/index.ts";
import { reEncryptTokens } from "./tokens/index.ts";
import { reEncryptSenderSecrets } from "./triggers/index.ts";

export interface MasterKeys {
  readonly masterKey: string;
  /**
   * The master key before `masterKey`. Secrets that were encrypted with it are re-encrypted with
   * `masterKey`. If undefined, nothing is re-encrypted.
   */
  readonly previousMasterKey: string | undefined;
  /**
   * Whether the operator has declared that the key with which the database was encrypted is lost.
   * If true, startup succeeds although the secrets encrypted with that key cannot be decrypted.
   */
  readonly masterKeyLost: boolean;
}

/**
 * Changes the database to the master key of the settings. The caller must hold the migration lock,
 * and `client` must see all workspaces.
 *
 * - With a previous key, the secrets encrypted with that key are re-encrypted with the new key; the
 *   value that identifies the database's key is replaced last. If the process is killed in between,
 *   the database contains secrets of both keys. A server whose settings contain both keys can
 *   decrypt them, and the next startup continues. Every startup with a previous key does this,
 *   because other machines encrypt with the old key until they are restarted.
 * - If the operator has declared the old key lost, the new key becomes the database's key, and the
 *   secrets encrypted with the old key stay unreadable. Keys and tokens remain valid, because they
 *   are verified by their hashes.
 *
 * If the database's key changes, all sessions are deleted: their cookies are no longer valid.
 *
 * @throws ConfigError if the database's secrets were encrypted with another key, and the settings
 *   neither contain that key nor declare it lost.
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
      reEncryptProviderKeys,
      reEncryptToolSecrets,
      reEncryptSubscriptions,
      reEncryptSenderSecrets,
      reEncryptResponses,
    ]) {
      const counts = await reEncrypt(client, { from: previous, to: current });
      if (counts.reEncrypted > 0)
        log.write("encrypted with the new master key", { secrets: counts.reEncrypted });
      if (counts.unreadable > 0)
        log.write(
          "secrets could not be decrypted with the previous master key: they were altered or moved",
          { secrets: counts.unreadable },
        );
    }
  }
  if (checked !== "current") {
    // Their cookies were signed with a key that was derived from the old master key. Deleted before
    // the check value is replaced, so that the next startup repeats it if this one is killed.
    await deleteAllSessions(client);
    await replaceMasterKeyCheck(client, current);
  }
  if (checked === "lost")
    log.write("the old master key was declared lost: its secrets cannot be decrypted any more", {});
  if (keys.masterKeyLost)
    log.write(
      "BECKON_MASTER_KEY_LOST is set: unset it, or the next start accepts any wrong key",
      {},
    );
}
