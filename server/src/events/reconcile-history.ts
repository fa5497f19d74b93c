import type { Queryable } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  beginGeneration,
  readCurrentHistory,
  readStoredHistory,
  restoreMark,
  storeHistory,
} from "./history-store.ts";

/**
 * Detects whether the database was restored since the last startup. If it was, begins a new
 * generation of event cursors. After a restore into another cluster the system identifier differs;
 * after point-in-time recovery and after a failover to a standby the timeline differs. In all of
 * these cases an old cursor could point to a different event: a standby that is not synchronous
 * lacks the last transactions, and gives their ids to others. The new generation makes all old
 * cursors invalid. After a failover, other processes can be running that did not restart.
 *
 * `beckon restore` also marks the database. The timeline alone cannot distinguish a restored
 * backup from a failover. After a failover runs continue. After a restored backup they are ended,
 * because resuming them could repeat tool calls. The mark stays until `finishRestore`.
 *
 * This function does not detect a restore without the mark into the same cluster, for example of a
 * dump or of a copy of the data folder, because the history does not change: operators set the mark
 * with `beckon restore --mark`. Such a restore is detected only when a client sends a cursor that
 * cannot exist: see `readGeneration`.
 *
 * @param client a connection that can read all workspaces. The caller holds the migration lock.
 * @returns whether the database has the mark.
 */
export async function reconcileHistory(client: Queryable, log: Log): Promise<boolean> {
  const stored = await readStoredHistory(client);
  if (stored === restoreMark) {
    await beginGeneration(client, restoreMark, log);
    return true;
  }
  const history = await currentHistory(client, log);
  if (history === null || stored === history) return false;
  if (stored === null) {
    await storeHistory(client, history);
    return false;
  }
  log.write(
    clusterOf(stored) === clusterOf(history)
      ? "PostgreSQL was promoted or recovered since the last startup; all event cursors become invalid"
      : "the database was restored or moved since the last startup; all event cursors become invalid",
    {},
  );
  await beginGeneration(client, history, log);
  return false;
}

/** Removes the mark of a restore. Call it after the runs and deliveries in progress were ended. */
export async function finishRestore(client: Queryable, log: Log): Promise<void> {
  await storeHistory(client, await currentHistory(client, log));
}

/** Returns the system identifier of the PostgreSQL cluster in a history. */
const clusterOf = (history: string) => history.split(".")[0];

/** Like `readCurrentHistory`, but if the history cannot be read, logs why and returns null. */
async function currentHistory(client: Queryable, log: Log): Promise<string | null> {
  try {
    return await readCurrentHistory(client);
  } catch (thrown) {
    log.write("this database does not allow Beckon to detect a restore", {
      reason: messageOf(thrown),
    });
    return null;
  }
}
