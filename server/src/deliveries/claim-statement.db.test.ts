import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { claimDeliveries } from "./claim-statement.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);

test("a claim returns the data of small deliveries only, and the size of all", async () => {
  const { id } = await subscribe(database.engine, undefined, {
    url: "https://example.com/events",
    workspaceId,
  });
  const data = { small: "x".repeat(1_000), large: "x".repeat(60_000) };
  await database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      select 'dlv_' || key, $1, $2, 'event', 'evt_' || key, 'run.finished', 1,
        jsonb_build_object('output', value), 'pending', now()
      from jsonb_each_text($3)`,
    [workspaceId, id, JSON.stringify(data)],
  );
  const { claimed } = await claimDeliveries(database, {
    busy: [],
    max: 10,
    maxFailing: 10,
    maxOfOne: { event: 10, callback: 10, test: 10 },
    leaseSeconds: 45,
  });
  const json = JSON.stringify({ output: data.small }).replace(":", ": ");
  expect(claimed).toMatchObject([
    { id: "dlv_large", data: null, data_bytes: json.length + 59_000 },
    { id: "dlv_small", data: json, data_bytes: json.length },
  ]);
});
