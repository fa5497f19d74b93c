import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { connect, migrate } from "../server/src/base/database/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { describeSchema } from "../server/test/describe-schema.ts";

/**
 * Writes server/src/base/database/schema.sql: runs all migrations in a temporary PostgreSQL and
 * describes the resulting schema. Run it after adding a migration and review the diff.
 */
const dataDir = await mkdtemp(join(tmpdir(), "beckon-schema-"));
const log = createLog("warn");
const embedded = await startEmbedded({ dataDir, log });
try {
  const database = connect({ url: embedded.url, poolSize: 4, role: undefined, log });
  await migrate(database.settings, async () => {});
  await writeFile(
    new URL("../server/src/base/database/schema.sql", import.meta.url),
    await describeSchema(database.engine),
  );
  await database.close();
} finally {
  await embedded.stop();
  await rm(dataDir, { recursive: true, force: true });
  if (embedded.elsewhere !== undefined)
    await rm(embedded.elsewhere, { recursive: true, force: true });
}
