import { expect, onTestFinished, test, vi } from "vitest";
import { addDatedRows } from "../../test/add-dated-rows.ts";
import { addUsage } from "../../test/add-usage.ts";
import { testDatabase } from "../../test/database.ts";
import { seedAgent } from "../../test/tenant.ts";
import { createPace } from "./pace.ts";

// With `poolSize` 2, the pool `engine` has one connection, so it can flush the statistics.
const { database } = await testDatabase({ poolSize: 2 });

test("rows of every kind are deleted twice as fast as they are created", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const agent = await seedAgent(database);
  const keepsUsage = createPace(database.engine, { usageDays: 0 });
  const deletesUsage = createPace(database.engine, { usageDays: 62 });
  for (const pace of [keepsUsage, deletesUsage]) await pace({});

  const count = 4_000;
  await addDatedRows(database.engine, agent.workspaceId, { label: "x", days: 0, count });
  await addUsage(database, agent, ...Array.from({ length: count }, () => ({})));
  await database.engine.query("select pg_stat_force_next_flush()");
  vi.advanceTimersByTime(10_000);

  const others = {
    received_requests: count,
    request_counts: count,
    event_ids: count,
    idempotency: count,
  };
  expect(await keepsUsage(others)).toBeCloseTo(5_000);
  expect(await deletesUsage({ ...others, usage_entries: count })).toBeCloseTo(5_000);
});
