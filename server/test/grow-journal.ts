import type { Pool } from "pg";

/**
 * Inserts `count` steps after the first event of a finished run, directly in the database. `bytes`
 * is the size of each step's text.
 */
export async function growJournal(
  database: Pick<Pool, "query">,
  runId: string,
  count: number,
  bytes: number,
): Promise<void> {
  const text = "x".repeat(bytes);
  await database.query("update events set seq = seq + $2 where run_id = $1 and seq > 1", [
    runId,
    count,
  ]);
  await database.query(
    `insert into events (run_id, seq, workspace_id, id, type, version, data)
      select r.id, n + 1, r.workspace_id, 'evt_' || r.id || n, 'run.step', 1,
        jsonb_build_object('step', n, 'text', $3::text)
      from runs r, generate_series(1, $2::int) n where r.id = $1`,
    [runId, count, text],
  );
  await database.query("update runs set last_seq = last_seq + $2 where id = $1", [runId, count]);
}
