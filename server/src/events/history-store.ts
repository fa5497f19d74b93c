import type { Queryable } from "../base/database/index.ts";
import type { Log } from "../base/log.ts";

/**
 * Returns the history of the database: the system identifier of the PostgreSQL cluster and its
 * timeline, separated by a dot.
 * @throws if the database role is not allowed to call the functions in this query, or the server
 *   does not have them.
 */
export async function readCurrentHistory(client: Queryable): Promise<string> {
  const { rows } = await client.query<{ history: string }>(
    `select system_identifier || '.' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
      as history from pg_control_system()`,
  );
  return rows[0]?.history ?? "";
}

/**
 * Returns the database's history (see `readCurrentHistory`) as an earlier startup stored it; null
 * if none was stored.
 */
export async function readStoredHistory(client: Queryable): Promise<string | null> {
  const { rows } = await client.query<{ history: string | null }>(
    "select history from installation",
  );
  return rows[0]?.history ?? null;
}

/**
 * Stored in place of the history after a restore from a backup, until a startup has ended the runs
 * and deliveries that were in progress. It differs from every real history.
 */
export const restoreMark = "restored";

/** SQL that marks the database as restored from a backup. */
export const markRestoredSql = `update installation set history = '${restoreMark}';`;

/** Marks the database as restored from a backup. @throws if it is not a database of Beckon. */
export async function markRestored(client: Queryable): Promise<void> {
  await client.query(markRestoredSql);
}

/**
 * Stores the history of the PostgreSQL server (see `readCurrentHistory`). The next startup compares
 * it with the server's history, to find out whether the database was restored from a backup.
 * @param history null if it cannot be read
 */
export async function storeHistory(client: Queryable, history: string | null): Promise<void> {
  await client.query("update installation set history = $1", [history]);
}

/**
 * Begins a new generation of event cursors, which makes all existing cursors invalid. After a
 * restore, events can have transaction ids that the cluster has not reached yet. If there are such
 * events, the transaction ids of all existing events are made negative, so that they sort before
 * those of new events. Other processes can write events meanwhile, because after a failover they
 * continue.
 */
export async function beginGeneration(client: Queryable, history: string, log: Log): Promise<void> {
  const highest = await findUnreachedTransaction(client);
  await client.query("begin");
  await client.query("update installation set history = $1, generation = gen_random_uuid()", [
    history,
  ]);
  if (highest !== undefined) {
    log.write("rows get lower transaction ids, which takes time in proportion to their number", {
      tables: ["events", "workspace_events", "runs"],
    });
    await client.query("update events set transaction = transaction - $1 - 1", [highest]);
    await client.query("update workspace_events set transaction = transaction - $1 - 1", [highest]);
    await client.query("update runs set last_transaction = last_transaction - $1 - 1", [highest]);
  }
  await client.query("commit");
}

/**
 * Returns the highest transaction id of all events if the cluster has not reached it; undefined if
 * it has reached all of them.
 *
 * The ids are compared with the snapshot that the statement itself reads. All events that it sees
 * and that this cluster has written have lower ids, even if they were just committed. The statement
 * is not part of the transaction that writes, because that transaction's id holds back event
 * streams. It reads one index entry of each workspace, because no index has all ids in order.
 */
async function findUnreachedTransaction(client: Queryable): Promise<string | undefined> {
  const { rows } = await client.query<{ highest: string }>(
    `select max(last.transaction) as highest from workspaces w, lateral (
        (select transaction from events where workspace_id = w.id
          order by transaction desc limit 1)
        union all
        (select transaction from workspace_events where workspace_id = w.id
          order by transaction desc limit 1)
      ) as last
      having max(last.transaction) >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`,
  );
  return rows[0]?.highest;
}
