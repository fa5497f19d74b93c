import { resolve } from "node:path";
import { backUpCluster } from "../base/database/embedded/index.ts";
import { version } from "../base/version.ts";
import { readConfig } from "../config.ts";
import { BackupError, explained } from "./backup-error.ts";

/** What a backup contains. */
export interface BackupSummary {
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly bytes: number;
  /** Everything that was acknowledged before this time is in the backup. */
  readonly complete_until: string;
}

/**
 * Writes a backup of the embedded PostgreSQL into the new folder `target`. Beckon can be running or
 * stopped. The folder does not contain the master key.
 * @param env environment variables with which Beckon is started. BECKON_DATA_DIR names the data
 *   folder.
 * @throws BackupError for example if DATABASE_URL is set; the signal's reason on abort.
 */
export function backUp(
  env: Readonly<Record<string, string | undefined>>,
  target: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<BackupSummary> {
  return explained(async () => {
    const { dataDir, databaseUrl } = readConfig(env);
    if (databaseUrl !== undefined) {
      throw new BackupError(
        "usage",
        "DATABASE_URL is set: this PostgreSQL is yours. Back it up with pg_dump or with " +
          "point-in-time recovery; docs/operate.md says how.",
      );
    }
    const folder = resolve(target);
    const { bytes, complete_until } = await backUpCluster({
      dataDir,
      target: folder,
      version,
      ...(signal === undefined ? {} : { signal }),
    });
    return { folder, bytes, complete_until };
  });
}
