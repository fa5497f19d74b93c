import type { Pool } from "pg";
import type { Answer } from "./beckon.ts";
import { eventually } from "./eventually.ts";

/**
 * Sends a request that is authenticated before a change of the database is committed. Commits the
 * change when the request waits for it or has a response.
 * @param change an SQL statement with its parameters
 * @returns the response
 */
export async function sendDuring(
  engine: Pool,
  change: readonly [sql: string, parameters: readonly string[]],
  send: () => Promise<Answer>,
): Promise<Answer> {
  const client = await engine.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    await client.query("begin");
    await client.query(change[0], [...change[1]]);
    let hasAnswer = false;
    const response = send().finally(() => {
      hasAnswer = true;
    });
    await eventually("a request that waits for the change", async () => {
      const waiting = await engine.query(
        "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))",
        [rows[0]?.pid],
      );
      return hasAnswer || waiting.rows.length > 0 || undefined;
    });
    await client.query("commit");
    return await response;
  } finally {
    // Does nothing after the commit.
    await client.query("rollback");
    client.release();
  }
}
