import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { readDeliveryFigures } from "./figures-store.ts";

/**
 * Returns the figures of a new database that has one subscription with 30 deliveries, which have
 * been due for an hour.
 * @param column a column of the subscription that has a time in the future
 */
async function figuresOf({ column }: { column?: "failing_since" | "not_before" }) {
  const { database } = await testDatabase();
  const { engine } = database;
  const { workspaceId } = await seedAgent(database);
  const url = "https://example.com/events";
  const { id } = await subscribe(engine, undefined, { url, workspaceId });
  if (column !== undefined)
    await engine.query(
      `update subscriptions set ${column} = now() + interval '1 hour' where id = $1`,
      [id],
    );
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
       status, next_at)
     select 'dlv_' || n, $1, $2, 'event', 'evt_' || n, 'run.finished', 1, 'pending',
       now() - interval '1 hour'
     from generate_series(1, 30) n`,
    [workspaceId, id],
  );
  return readDeliveryFigures(database);
}

test.each([
  ["of a failing subscription", "failing_since"],
  ["of a receiver that has requested a delay", "not_before"],
] as const)("due deliveries %s are pending, but not overdue", async (_name, column) => {
  expect(await figuresOf({ column })).toEqual({ pending: 30, overdueSeconds: 0 });
});

test("due deliveries of another subscription are overdue", async () => {
  const { overdueSeconds } = await figuresOf({});
  expect(overdueSeconds).toBeGreaterThanOrEqual(3_600);
});
