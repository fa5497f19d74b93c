import { startExisting } from "../base/database/embedded/index.ts";
import { checkServer, connect, explainStartFailure } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { type Config, readConfig } from "../config.ts";
import { markRestored } from "../events/index.ts";
import { BackupError, explained } from "./backup-error.ts";
import { countClients, isInstallation } from "./installation-store.ts";

/**
 * Marks the database as restored: the external one or, without DATABASE_URL, that of a stopped data
 * folder. The next startup then ends the runs and deliveries that were in progress when the backup
 * or copy was made, instead of continuing them.
 * @param env environment variables of the next startup; DATABASE_URL and BECKON_DATA_DIR are read.
 * @returns `data_dir`: the data folder whose database was marked; null for the external one.
 * @throws BackupError if Beckon uses the database, or if the database cannot be reached or changed;
 *   the signal's reason on abort.
 */
export function markDatabase(
  env: Readonly<Record<string, string | undefined>>,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<{ readonly data_dir: string | null }> {
  return explained(async () => {
    const config = readConfig(env);
    if (config.databaseUrl !== undefined) {
      await mark(config.databaseUrl, config);
      return { data_dir: null };
    }
    const embedded = await startExisting(config.dataDir, signal);
    try {
      await mark(embedded.url, config, embedded.logPath);
      return { data_dir: config.dataDir };
    } finally {
      await embedded.stop();
    }
  });
}

type Settings = Pick<Config, "trustStorage">;

/** @param logPath of the log of the PostgreSQL inside; undefined for an external one */
async function mark(url: string, config: Settings, logPath?: string): Promise<void> {
  try {
    await connectAndMark(url, config);
  } catch (thrown) {
    if (thrown instanceof BackupError) throw thrown;
    const { exitCode, reason } = explainStartFailure(thrown, url, logPath);
    throw new BackupError("failed", reason, { exitCode, cause: thrown });
  }
}

async function connectAndMark(url: string, config: Settings): Promise<void> {
  const connection = { connectionString: url, connectionTimeoutMillis: 5_000 };
  const role = await checkServer(connection, config);
  const database = connect({ url, poolSize: 4, role, log: createLog("silent") });
  try {
    if (!(await isInstallation(database.engine))) {
      throw new BackupError(
        "failed",
        "The database contains no installation of Beckon. Restore it first.",
      );
    }
    if ((await countClients(database.engine)) > 0) {
      throw new BackupError(
        "failed",
        "Beckon is connected to the database. Stop it on all machines, then mark the database.",
      );
    }
    await markRestored(database.engine);
  } finally {
    await database.close();
  }
}
