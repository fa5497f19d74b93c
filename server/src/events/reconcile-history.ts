import type { Database } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { beginGeneration, currentHistory, keepHistory, knownHistory } from "./history-store.ts";

/**
 * Finds out whether the database has been restored since the last start: from a copy made by logical means it then lies in another cluster,
 * after a recovery to a moment in the past on another timeline. Transactions are numbered anew from there on, so a place in the order of events
 * that a reader has kept may mean another one now: with a new generation it means none. The caller holds the migration lock; `client` sees
 * all workspaces.
 *
 * A copy of a stopped server's files, put back, cannot be told from a restart. A reader's cursor gives it away: see `readGeneration`.
 */
export async function reconcileHistory(
  client: Pick<Database["engine"], "query">,
  log: Log,
): Promise<void> {
  let history: string;
  try {
    history = await currentHistory(client);
  } catch (thrown) {
    log.info(
      { reason: messageOf(thrown) },
      "this database does not say whether it has been restored",
    );
    return;
  }
  const known = await knownHistory(client);
  if (known === history) return;
  if (known === null) return keepHistory(client, history);
  log.warn("the database has been restored since the last start: streams of events begin anew");
  await beginGeneration(client, history);
}
