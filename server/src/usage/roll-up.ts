import { type Database, inWorkspace } from "../base/database/index.ts";
import { addDays, findDue, lockProgress, mergeDays, preferIndexes } from "./rollup-store.ts";

/**
 * Maximum number of entries that one transaction sums up. It is exceeded if the last entry was
 * written in one transaction with further entries, because entries of one transaction are summed up
 * together.
 */
const maxEntries = 20_000;

/**
 * Sums up the entries of the usage ledger by day, and merges the sums of days that are over. Many
 * processes can call it at the same time: each workspace is summed up by one of them. While a
 * transaction is open, the entries of later transactions are left for later calls. Readers must
 * count the entries that are left in addition to the sums.
 * @param signal stops the work after the current transaction. Default: never.
 */
export async function rollUp(database: Database, signal?: AbortSignal): Promise<void> {
  for (const workspaceId of await findDue(database.engine)) {
    while (signal?.aborted !== true && (await rollUpSome(database, workspaceId)));
  }
}

/**
 * Sums up entries of a workspace in one transaction.
 * @returns whether there is more to do.
 */
function rollUpSome({ tenant }: Database, workspaceId: string): Promise<boolean> {
  return inWorkspace(tenant, workspaceId, async (tx) => {
    await preferIndexes(tx);
    const progress = await lockProgress(tx, workspaceId);
    if (progress === undefined) return false;
    const { entries, days } = await addDays(tx, workspaceId, progress, maxEntries);
    const isUnmerged = await mergeDays(tx, workspaceId, progress, days);
    return entries >= maxEntries || isUnmerged;
  });
}
