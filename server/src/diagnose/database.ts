import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspectDataFolder } from "../base/database/embedded/index.ts";
import {
  explainStartFailure,
  type InspectedServer,
  inspectServer,
} from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { createSecretCipher, identifyMasterKey, parseMasterKey } from "../base/secrets/index.ts";
import type { Config } from "../config.ts";
import { readOperatorPlans, rejectSamePlanNames } from "../limits/index.ts";
import { type Finding, ok, problem, skipped, splitMessage, warning } from "./finding.ts";

/**
 * Checks the external PostgreSQL, and that the settings match what it contains, as Beckon's startup
 * does. Without one, checks the data folder, as far as that is possible without starting
 * PostgreSQL. Changes nothing.
 */
export async function checkDatabase(config: Config): Promise<{
  readonly server: InspectedServer | undefined;
  readonly finding: Finding;
}> {
  const { databaseUrl, trustStorage } = config;
  if (databaseUrl === undefined)
    return { server: undefined, finding: await checkPostgresInside(config) };
  try {
    const server = await inspectServer(databaseUrl, { trustStorage });
    checkMasterKey(config, server);
    // A file that cannot be read is ignored here, because `checkSurroundings` reports it.
    const operatorPlans = await readOperatorPlans(config.plansFile).catch(() => new Map());
    rejectSamePlanNames(operatorPlans, server.planNames);
    const { version, pendingMigrations } = server;
    const schema =
      pendingMigrations === 0
        ? "the schema is current"
        : `the next start applies ${pendingMigrations} migrations`;
    return { server, finding: ok("database", `PostgreSQL ${version} can be used; ${schema}.`) };
  } catch (thrown) {
    const { exitCode, reason } = explainStartFailure(thrown, databaseUrl);
    const parts = splitMessage(reason, "Check DATABASE_URL and the log of PostgreSQL.");
    return { server: undefined, finding: problem("database", parts, exitCode) };
  }
}

async function checkPostgresInside(config: Config): Promise<Finding> {
  try {
    const hasCluster = await inspectDataFolder(config.dataDir);
    const keyFile = join(config.dataDir, "master.key");
    if (hasCluster && needsKeyFile(config) && !existsSync(keyFile)) {
      return warning(
        "database",
        `The data folder has a database but no master key: ${keyFile} does not exist, and ` +
          "BECKON_MASTER_KEY is not set.",
        "If Beckon was ready with this data folder before, restore the file from a copy, or set " +
          "BECKON_MASTER_KEY: otherwise the start fails.",
      );
    }
    return skipped(
      "database",
      "PostgreSQL runs inside, from the data folder. The start checks it.",
    );
  } catch (thrown) {
    const parts = splitMessage(messageOf(thrown), "Check BECKON_DATA_DIR.");
    return problem("database", parts, 1);
  }
}

/** Returns whether the start needs the key in the data folder, because the settings give none. */
function needsKeyFile({ masterKey, previousMasterKey, masterKeyLost }: Config): boolean {
  return masterKey === undefined && previousMasterKey === undefined && !masterKeyLost;
}

/**
 * @throws ConfigError if the database was encrypted with another master key, unless the settings
 *   give that key as the previous one, or say that it is lost.
 */
function checkMasterKey(
  { masterKey, previousMasterKey, masterKeyLost }: Config,
  { masterKeyCheck }: InspectedServer,
): void {
  if (masterKey === undefined || masterKeyCheck === undefined) return;
  const cipherOf = (key: string) => createSecretCipher(parseMasterKey(key));
  identifyMasterKey(masterKeyCheck, cipherOf(masterKey), {
    previous: previousMasterKey === undefined ? undefined : cipherOf(previousMasterKey),
    lost: masterKeyLost,
  });
}
