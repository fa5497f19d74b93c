import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent } from "../../test/tenant.ts";
import { lowestIdAt } from "../base/ids.ts";
import { readConfig } from "../config.ts";
import { oldDeliveries } from "./deliveries-store.ts";

const { database } = await testDatabase();
const now = new Date();
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);

test("a delivery stays for a day after it has ended, however old its event is", async () => {
  const { workspaceId } = await seedAgent(database);
  // By default, the last attempt is 75.6 hours after the event.
  const event = lowestIdAt("dlv", hoursAgo(76));
  await database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
        status, finished_at)
      select id, $1, 'sub_1', 'event', 'evt_1', 'run.finished', 1, 'failed', finished_at
      from unnest($2::text[], $3::timestamptz[]) as ended (id, finished_at)`,
    [workspaceId, [`${event}old`, `${event}new`], [hoursAgo(25), hoursAgo(23)]],
  );
  const { retention } = readConfig({ BECKON_RETENTION_DELIVERIES_DAYS: "3" });
  const deleteSome = await oldDeliveries(database.engine, retention, now);
  expect(await deleteSome?.(10)).toMatchObject({ deleted: { deliveries: 1 } });
  expect((await database.engine.query("select id from deliveries")).rows).toEqual([
    { id: `${event}new` },
  ]);
});
