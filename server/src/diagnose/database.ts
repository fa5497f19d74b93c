import {
  explainStartFailure,
  type InspectedServer,
  inspectServer,
} from "../base/database/index.ts";
import type { Config } from "../config.ts";
import { type Finding, ok, problem, skipped, splitMessage } from "./finding.ts";

/** Checks the external PostgreSQL as Beckon's startup does, without changing it. */
export async function checkDatabase({ databaseUrl, trustStorage }: Config): Promise<{
  readonly server: InspectedServer | undefined;
  readonly finding: Finding;
}> {
  if (databaseUrl === undefined) {
    const finding = skipped(
      "database",
      "PostgreSQL runs inside, from the data folder. The start checks it.",
    );
    return { server: undefined, finding };
  }
  try {
    const server = await inspectServer(databaseUrl, { trustStorage });
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
