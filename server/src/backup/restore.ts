import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  type BackupFile,
  readBackupFile,
  restoreCluster,
} from "../base/database/embedded/index.ts";
import { createSecretCipher, parseMasterKey, readOrCreateSecret } from "../base/secrets/index.ts";
import { type Config, readConfig } from "../config.ts";
import { markRestoredSql } from "../events/index.ts";
import { BackupError, explained } from "./backup-error.ts";

/** A backup that was restored. */
export interface RestoreSummary {
  /** Absolute path of the data folder. */
  readonly data_dir: string;
  /** Everything that was acknowledged before this time is restored. */
  readonly complete_until: string;
}

/**
 * Restores the backup in the folder `source` into a data folder that contains no installation, and
 * marks it as restored. The next startup then ends the runs and deliveries that were in progress
 * when the backup was made, instead of continuing them.
 * @param env environment variables of the next startup; BECKON_DATA_DIR, BECKON_MASTER_KEY,
 *   BECKON_MASTER_KEY_PREVIOUS and BECKON_MASTER_KEY_LOST are read.
 * @param options `masterKeyFile`: a file with the master key, which is copied into the data folder.
 * @throws BackupError if the restore is not possible, for example because the backup is damaged. On
 *   abort, throws the signal's reason.
 */
export function restore(
  env: Readonly<Record<string, string | undefined>>,
  source: string,
  {
    masterKeyFile,
    signal,
  }: { readonly masterKeyFile?: string | undefined; readonly signal?: AbortSignal } = {},
): Promise<RestoreSummary> {
  return explained(async () => {
    const config = readConfig(env);
    if (config.databaseUrl !== undefined) {
      throw new BackupError(
        "usage",
        "DATABASE_URL is set. Restore this PostgreSQL with its own tools, then run: beckon restore " +
          "--mark. docs/operate.md says how.",
      );
    }
    const backupDir = resolve(source);
    const backup = await readBackupFile(backupDir);
    const masterKey = await findMasterKey(config, masterKeyFile);
    rejectOtherKey(config, backup, masterKey?.key);
    await restoreCluster({
      backupDir,
      backup,
      dataDir: config.dataDir,
      sql: markRestoredSql,
      ...(masterKey?.isNew ? { prepare: () => storeKey(config.dataDir, masterKey.key) } : {}),
      ...(signal === undefined ? {} : { signal }),
    });
    return { data_dir: config.dataDir, complete_until: backup.complete_until };
  });
}

interface FoundKey {
  readonly key: string;
  /** Whether the key must be stored in the data folder. */
  readonly isNew: boolean;
}

async function findMasterKey(
  { masterKey, dataDir }: Config,
  keyFile: string | undefined,
): Promise<FoundKey | undefined> {
  if (masterKey !== undefined && keyFile !== undefined)
    throw new BackupError("usage", "Give BECKON_MASTER_KEY or --master-key-file, not both.");
  if (masterKey !== undefined) return { key: masterKey, isNew: false };
  const stored = await readKey(join(dataDir, "master.key"));
  if (keyFile === undefined)
    return stored === undefined ? undefined : { key: stored, isNew: false };
  const given = await readKey(keyFile);
  if (given === undefined)
    throw new BackupError("usage", `${keyFile} cannot be read. Name the file with the master key.`);
  if (stored !== undefined && stored !== given) {
    throw new BackupError(
      "failed",
      `${join(dataDir, "master.key")} contains another key than ${keyFile}. Move it away first.`,
    );
  }
  return { key: given, isNew: stored === undefined };
}

/**
 * Returns the master key in the file; undefined if the file cannot be read.
 * @throws BackupError if the file contains something else.
 */
async function readKey(path: string): Promise<string | undefined> {
  const text = (await readFile(path, "utf8").catch(() => undefined))?.trim();
  if (text !== undefined && parseMasterKey(text).length !== masterKeyBytes) {
    throw new BackupError(
      "invalid_setting",
      `${path} does not contain a master key: 32 bytes as 64 hex digits or as base64. ` +
        "Replace it with the key that Beckon had when the backup was made, or move it away.",
    );
  }
  return text;
}

const masterKeyBytes = 32;

/**
 * Checks that `key` or the previous master key encrypted the secrets in the backup. Checks nothing
 * if the backup has no encrypted secrets or BECKON_MASTER_KEY_LOST is set.
 * @throws BackupError if `key` is undefined, or if another key encrypted the secrets.
 */
function rejectOtherKey(
  { masterKeyLost, previousMasterKey, dataDir }: Config,
  backup: BackupFile,
  key: string | undefined,
): void {
  if (masterKeyLost || backup.master_key === null) return;
  if (key === undefined) {
    throw new BackupError(
      "invalid_setting",
      "The master key is missing, and a backup does not contain it. Give --master-key-file, set " +
        `BECKON_MASTER_KEY, or copy it to ${join(dataDir, "master.key")}. Only if it is lost: ` +
        "BECKON_MASTER_KEY_LOST=1 restores without the secrets that it encrypted.",
    );
  }
  // A backup that was encrypted with the previous key is accepted too, because the next startup
  // re-encrypts its secrets.
  const keys = [key, ...(previousMasterKey === undefined ? [] : [previousMasterKey])];
  if (keys.some((each) => createSecretCipher(parseMasterKey(each)).prefix === backup.master_key))
    return;
  throw new BackupError(
    "invalid_setting",
    "The master key is not the one of this backup. Give the key that Beckon had when the backup was " +
      "made: --master-key-file, BECKON_MASTER_KEY or the file master.key of the data folder.",
  );
}

async function storeKey(dataDir: string, key: string): Promise<void> {
  await readOrCreateSecret(join(dataDir, "master.key"), () => key);
}
