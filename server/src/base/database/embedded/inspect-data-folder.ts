import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { rejectOtherVersion } from "./data-folder/index.ts";
import { exists } from "./exists.ts";
import { findBinaries, hasHomeRecord, homeUnderAnotherUser } from "./placement/index.ts";

/**
 * Checks that the PostgreSQL that Beckon contains can run here, and on the cluster of the data
 * folder if it has one. Starts and changes nothing.
 * @returns whether the data folder has a cluster.
 * @throws EmbeddedError if there is no PostgreSQL for this machine, or if the cluster belongs to
 *   another major version or cannot be read.
 */
export async function inspectDataFolder(dataDir: string): Promise<boolean> {
  const { version } = await findBinaries();
  const folder = await realpath(dataDir).catch(() => dataDir);
  const home = (await hasHomeRecord(folder)) ? await homeUnderAnotherUser(folder) : folder;
  const cluster = join(home, "postgres");
  if (!(await exists(join(cluster, "PG_VERSION")))) return false;
  await rejectOtherVersion(cluster, version);
  return true;
}
