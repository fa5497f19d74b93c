import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { createLog } from "../../log.ts";
import { EmbeddedError } from "./embedded-error.ts";
import { exists } from "./exists.ts";
import { hasHomeRecord } from "./placement/index.ts";
import { type Embedded, startEmbedded } from "./start-embedded.ts";

/**
 * Starts PostgreSQL on a data folder that contains an installation, without log lines.
 * @throws FolderInUseError if Beckon runs on the folder; EmbeddedError if the folder has no
 *   installation or cannot be read, or PostgreSQL cannot start; the signal's reason on abort.
 */
export async function startExisting(dataDir: string, signal?: AbortSignal): Promise<Embedded> {
  const folder = await realpath(dataDir).catch(() => dataDir);
  // Checked first, because `startEmbedded` would create an installation if there is none.
  if (!(await exists(join(folder, "postgres/PG_VERSION"))) && !(await hasHomeRecord(folder))) {
    throw new EmbeddedError(
      `${dataDir} contains no installation of Beckon. Set BECKON_DATA_DIR to its data folder, or ` +
        "DATABASE_URL to its external PostgreSQL.",
    );
  }
  const log = createLog("silent");
  return startEmbedded({ dataDir: folder, log, ...(signal === undefined ? {} : { signal }) });
}
