import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";

const beckon = await startTestBeckon();

test.each([
  ["/runs/stats", "run_results"],
  ["/usage", "usage_days"],
])("a report of %s that takes too long gets 400 with advice, not 503", async (path, table) => {
  const lock = await beckon.db.database.engine.connect();
  try {
    await lock.query("begin");
    await lock.query(`lock table ${table} in access exclusive mode`);
    const response = await beckon.call(path);
    expectError(response, 400, "bad_request", /took longer than 3 seconds\. .*agent_id/);
    expect(response.headers.get("retry-after")).toBeNull();
  } finally {
    await lock.query("rollback");
    lock.release();
  }
});
