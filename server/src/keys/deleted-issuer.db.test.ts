import { test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const body = { name: "Test", preset: "everything" };
const add = async () => (await beckon.call("/keys", { body })).body.data;

test("a key that is deleted during a request neither creates nor rotates a key", async () => {
  const other = await add();
  const client = await engine.connect();
  try {
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    for (const [path, options] of [
      ["/keys", { body }],
      [`/keys/${other.id}/rotate`, { method: "POST" }],
    ] as const) {
      const { id, key: credential } = await add();
      await client.query("begin");
      await client.query("delete from keys where id = $1", [id]);
      // The request is authenticated before the deletion is committed.
      let hasAnswer = false;
      const response = beckon.call(path, { ...options, credential }).finally(() => {
        hasAnswer = true;
      });
      await eventually("a request that waits for the deletion", async () => {
        const waiting = await engine.query(
          "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))",
          [rows[0]?.pid],
        );
        return hasAnswer || waiting.rows.length > 0 || undefined;
      });
      await client.query("commit");
      expectError(await response, 401, "unauthorized");
    }
  } finally {
    await client.query("rollback");
    client.release();
  }
});
