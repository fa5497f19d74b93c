import { randomUUID } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const prefix = "postgres.new-";

/** Returns a path in `home` for a cluster that is not complete yet, before it is renamed. */
export function unfinishedCluster(home: string): string {
  return join(home, `${prefix}${randomUUID()}`);
}

/**
 * Removes the unfinished clusters that killed startups and restores left in `home`. The caller
 * holds the lock of the data folder.
 */
export async function removeUnfinished(home: string): Promise<void> {
  // An initdb whose supervisor was killed may still be writing to its unfinished folder, so the
  // removal is retried. Such an initdb exits once its files are gone.
  for (const name of (await readdir(home)).filter((each) => each.startsWith(prefix)))
    await rm(join(home, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
