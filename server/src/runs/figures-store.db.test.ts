import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, startOne } from "../../test/tenant.ts";
import { readRunFigures } from "./figures-store.ts";

const { database } = await testDatabase();

test("the age of a queued run counts from its release, if it was held", async () => {
  const agent = await seedAgent(database);
  const queue = async (created: string, released: string | null) => {
    const { runId } = await startOne(database, agent);
    await database.engine.query(
      `update runs set created_at = now() - $2::interval, released_at = now() - $3::interval
        where id = $1`,
      [runId, created, released],
    );
    const { queued, oldestQueuedSeconds } = await readRunFigures(database);
    return [queued, Math.floor(oldestQueuedSeconds / 60)];
  };
  expect(await queue("3 days", "2 minutes")).toEqual([1, 2]);
  expect(await queue("10 minutes", null)).toEqual([2, 10]);
});
