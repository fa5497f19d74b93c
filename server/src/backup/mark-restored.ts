import { checkServer, connect, explainStartFailure } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { readConfig } from "../config.ts";
import { countClients, isInstallation, markRestored } from "../events/index.ts";
import { BackupError, explained } from "./backup-error.ts";

/**
 * Marks the external database as restored. The next startup then ends the runs and deliveries that
 * were in progress when the backup was made, instead of continuing them.
 * @param env environment variables of the next startup; DATABASE_URL is read.
 * @throws BackupError if Beckon is connected to the database, or if the database cannot be reached
 *   or changed.
 */
export function markDatabase(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  return explained(async () => {
    const config = readConfig(env);
    const { databaseUrl } = config;
    if (databaseUrl === undefined) {
      throw new BackupError(
        "usage",
        "--mark is for an external PostgreSQL, and DATABASE_URL is not set. For PostgreSQL inside, " +
          "beckon restore <folder> restores and marks.",
      );
    }
    try {
      await mark(databaseUrl, config);
    } catch (thrown) {
      if (thrown instanceof BackupError) throw thrown;
      const { exitCode, reason } = explainStartFailure(thrown, databaseUrl);
      throw new BackupError("failed", reason, { exitCode, cause: thrown });
    }
  });
}

async function mark(url: string, config: { readonly trustStorage: boolean }): Promise<void> {
  const connection = { connectionString: url, connectionTimeoutMillis: 5_000 };
  const role = await checkServer(connection, config);
  const database = connect({ url, poolSize: 4, role, log: createLog("silent") });
  try {
    if (!(await isInstallation(database.engine))) {
      throw new BackupError(
        "failed",
        "The database in DATABASE_URL contains no installation of Beckon. Restore it first.",
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
