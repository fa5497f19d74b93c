import type { Database } from "../base/database/index.ts";

type Queryable = Pick<Database["engine"], "query">;

/** The history of the database, as far as the server says: its cluster and its timeline. @throws on a server that does not say. */
export async function currentHistory(client: Queryable): Promise<string> {
  const { rows } = await client.query<{ history: string }>(
    "select system_identifier || '.' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as history from pg_control_system()",
  );
  return rows[0]?.history ?? "";
}

/** The one it had at the last start; null: none was known. */
export async function knownHistory(client: Queryable): Promise<string | null> {
  const { rows } = await client.query<{ history: string | null }>(
    "select history from installation",
  );
  return rows[0]?.history ?? null;
}

export async function keepHistory(client: Queryable, history: string): Promise<void> {
  await client.query("update installation set history = $1", [history]);
}

/** Makes every cursor void. What another cluster has numbered higher than this one has come to is moved before all that is to come. */
export async function beginGeneration(client: Queryable, history: string): Promise<void> {
  await client.query("begin");
  await client.query("update installation set history = $1, generation = gen_random_uuid()", [
    history,
  ]);
  const { rows } = await client.query<{ highest: string }>(
    `select max(transaction) as highest
      from (select transaction from events union all select transaction from workspace_events) as e
      having max(transaction) >= current_transaction()`,
  );
  if (rows[0] !== undefined) {
    await client.query("update events set transaction = transaction - $1 - 1", [rows[0].highest]);
    await client.query("update workspace_events set transaction = transaction - $1 - 1", [
      rows[0].highest,
    ]);
    await client.query("update runs set last_transaction = last_transaction - $1 - 1", [
      rows[0].highest,
    ]);
  }
  await client.query("commit");
}
