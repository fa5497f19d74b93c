import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { failExcess } from "./maintenance-store.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);
const { engine } = database;

test("of too many callbacks those that are due first fail, and events do not", async () => {
  const { id } = await subscribe(engine, undefined, { url: "https://example.com/", workspaceId });
  await engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, callback_url, event_id, type,
        version, status, next_at)
      select kind || n, $1, $2, kind, case kind when 'callback' then 'https://example.com/1' end,
        'evt_' || n, 'run.finished', 1, 'pending', now() + n * interval '1 second'
      from generate_series(1, 25) n, unnest(array['event', 'callback']) kind`,
    [workspaceId, id],
  );
  expect(await failExcess(database, 20)).toBe(5);
  expect(await failExcess(database, 20)).toBe(0);
  const { rows } = await engine.query<Record<string, unknown>>(
    `select id, status, last_error from deliveries
      where subscription_id = $1 and status <> 'pending' order by substr(id, 9)::int`,
    [id],
  );
  expect(rows).toEqual(
    [1, 2, 3, 4, 5].map((n) => ({
      id: `callback${n}`,
      status: "failed",
      last_error: "More than 20 deliveries of this kind were pending.",
    })),
  );
});
