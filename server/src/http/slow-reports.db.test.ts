import { sql } from "kysely";
import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { expectError } from "../../test/expect-error.ts";
import { inWorkspace, limitStatements } from "../base/database/index.ts";

const beckon = await startTestBeckon();

test.each([
  ["/runs/stats", "run_results", /agent_id/],
  ["/usage", "usage_days", /agent_id/],
  // The index of single entries does not contain the agent, so naming one would not help.
  ["/usage?group_by=hour&from=2026-01-01&to=2026-01-01", "usage_entries", /Shorten [^,]*$/],
])(
  "a report of %s that takes too long gets 400 with advice, not 503",
  async (path, table, advice) => {
    const lock = await beckon.db.database.engine.connect();
    try {
      await lock.query("begin");
      await lock.query(`lock table ${table} in access exclusive mode`);
      const response = await beckon.call(path);
      expectError(response, 400, "bad_request", /took longer than 3 seconds\. /);
      expect(response.body.error).toMatch(advice);
      expect(response.headers.get("retry-after")).toBeNull();
    } finally {
      await lock.query("rollback");
      lock.release();
    }
  },
);

test("PostgreSQL cancels a statement that takes longer than the limit of its transaction", async () => {
  const { tenant } = beckon.db.database;
  const slow = (timeoutMs: number | undefined) =>
    inWorkspace(
      limitStatements(tenant, () => timeoutMs),
      "*",
      (tx) => sql`select pg_sleep(0.1)`.execute(tx),
    );
  await expect(slow(10)).rejects.toMatchObject({ code: "unavailable", cause: { code: "57014" } });
  await slow(undefined);
});

test("the statements of a read have a limit, those of a change do not", async () => {
  const hasLimit = async (act: () => Promise<unknown>) =>
    (await executedStatements(act)).some((text) =>
      /beckon\.workspace.*statement_timeout/.test(text),
    );
  expect(await hasLimit(() => beckon.call("/agents"))).toBe(true);
  expect(await hasLimit(() => beckon.createAgent())).toBe(false);
});
