import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../src/base/database/embedded/index.ts";
import { connect, type Database } from "../src/base/database/index.ts";
import { createLog } from "../src/base/log.ts";
import { readConfig, start } from "../src/index.ts";
import { reservedHosts } from "./reserved-ports.ts";

/** A Beckon with an embedded database, for scripts. Tests use `startTestBeckon`. */
export interface StandaloneBeckon {
  readonly url: string;
  /** The token of the setup link, with which the first owner's account is created. */
  readonly setupToken: string;
  readonly database: Database;
  /** URL that connects to the database with Beckon's own role. */
  readonly databaseUrl: string;
}

/**
 * Starts Beckon in this process, on an empty data folder and a free port. `opened` stops it and
 * removes the folder. Beckon is allowed to call the scripted servers of this process.
 */
export async function startStandaloneBeckon(
  opened: AsyncDisposableStack,
  settings: Record<string, string> = {},
): Promise<StandaloneBeckon> {
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-standalone-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10 }));
  const log = createLog("warn");
  const embedded = await startEmbedded({ dataDir, log });
  opened.defer(() => embedded.stop());
  const database = connect({ url: embedded.url, poolSize: 4, role: undefined, log });
  opened.defer(() => database.close());
  const config = readConfig({
    PORT: "0",
    LOG_LEVEL: "error",
    DATABASE_URL: embedded.url,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    // Model servers of the developer's machine must not change the result.
    BECKON_DISCOVER: "0",
    BECKON_DRAIN_SECONDS: "1",
    // Allows calls to port 9, where no server listens, and to scripted servers.
    BECKON_EGRESS_ALLOW: `127.0.0.1:9,${await reservedHosts()}`,
    ...settings,
  });
  const beckon = await start({ config, setup: true });
  opened.defer(() => beckon.stop());
  return {
    url: beckon.url,
    setupToken: beckon.setupToken ?? "",
    database,
    databaseUrl: embedded.url,
  };
}
