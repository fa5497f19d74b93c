import type { Database } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  beginGeneration,
  readCurrentHistory,
  readStoredHistory,
  storeHistory,
} from "./history-store.ts";

/**
 * Detects whether the database was restored since the last startup. If it was, begins a new
 * generation of event cursors. A database restored from a dump has another system identifier; after
 * point-in-time recovery the timeline differs. In both cases transaction ids are used again, so an
 * old cursor could point to a different event. The new generation makes all old cursors invalid.
 *
 * If the data files of a stopped server were copied and later put back, this function cannot
 * distinguish the restore from a restart. Such a restore is detected when a client sends a cursor
 * that cannot exist: see `readGeneration`.
 *
 * @param client a connection that can read all workspaces. The caller holds the migration lock.
 */
export async function reconcileHistory(
  client: Pick<Database["engine"], "query">,
  log: Log,
): Promise<void> {
  let history: string;
  try {
    history = await readCurrentHistory(client);
  } catch (thrown) {
    log.write("this database does not allow Beckon to detect a restore", {
      reason: messageOf(thrown),
    });
    return;
  }
  const stored = await readStoredHistory(client);
  if (stored === history) return;
  if (stored === null) return storeHistory(client, history);
  log.write(
    "the database was restored since the last startup; all event cursors become invalid",
    {},
  );
  await beginGeneration(client, history);
}
