import {
  explainStartFailure,
  type InspectedServer,
  inspectServer,
} from "../base/database/index.ts";
import { createSecretCipher, identifyMasterKey, parseMasterKey } from "../base/secrets/index.ts";
import type { Config } from "../config.ts";
import { readOperatorPlans, rejectSamePlanNames } from "../limits/index.ts";
import { type Finding, ok, problem, skipped, splitMessage } from "./finding.ts";

/**
 * Checks the external PostgreSQL, and that the settings match what it contains, as Beckon's startup
 * does. Changes nothing.
 */
export async function checkDatabase(config: Config): Promise<{
  readonly server: InspectedServer | undefined;
  readonly finding: Finding;
}> {
  const { databaseUrl, trustStorage } = config;
  if (databaseUrl === undefined) {
    const finding = skipped(
      "database",
      "PostgreSQL runs inside, from the data folder. The start checks it.",
    );
    return { server: undefined, finding };
  }
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
