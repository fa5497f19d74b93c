import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { readDeliveryFigures } from "./figures-store.ts";

/**
 * Returns the figures of a new database that has one subscription with 30 deliveries, which have
 * been due for an hour.
 * @param set SQL that sets a column of the subscription
 */
async function figuresOf({ set, kind = "event" }: { set?: string; kind?: string }) {
  const { database } = await testDatabase();
  const { engine } = database;
  const { workspaceId } = await seedAgent(database);
  const url = "https://example.com/events";
  const { id } = await subscribe(engine, undefined, { url, workspaceId });
  if (set !== undefined) await engine.query(`update subscriptions set ${set} where id = $1`, [id]);
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
       status, next_at)
     select 'dlv_' || n, $1, $2, $3, 'evt_' || n, 'run.finished', 1, 'pending',
       now() - interval '1 hour'
     from generate_series(1, 30) n`,
    [workspaceId, id, kind],
  );
  return readDeliveryFigures(database);
}

const inAnHour = "now() + interval '1 hour'";

test.each([
  ["of a failing subscription", `failing_since = ${inAnHour}`],
  ["of a receiver that has requested a delay", `not_before = ${inAnHour}`],
])("due deliveries %s are pending, but not overdue", async (_name, set) => {
  expect(await figuresOf({ set })).toEqual({ pending: 30, overdueSeconds: 0 });
});

test("due callbacks are overdue although the subscription fails, because they have other URLs", async () => {
  const { overdueSeconds } = await figuresOf({ set: "failing_since = now()", kind: "callback" });
  expect(overdueSeconds).toBeGreaterThanOrEqual(3_600);
});

test("due deliveries of another subscription are overdue", async () => {
  const { overdueSeconds } = await figuresOf({});
  expect(overdueSeconds).toBeGreaterThanOrEqual(3_600);
});

test("events are overdue since the end of the delay that their receiver has requested", async () => {
  const { overdueSeconds } = await figuresOf({ set: "not_before = now() - interval '1 minute'" });
  expect(overdueSeconds).toBeGreaterThanOrEqual(60);
  expect(overdueSeconds).toBeLessThan(3_600);
});

test.each(["callback", "test"])("a %s is overdue also during this delay", async (kind) => {
  const { overdueSeconds } = await figuresOf({ set: `not_before = ${inAnHour}`, kind });
  expect(overdueSeconds).toBeGreaterThanOrEqual(3_600);
});
