import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);

test.each([
  ["pending", null, null],
  ["pending", "now", "now"],
  ["succeeded", null, null],
  ["failed", "now", "now"],
])(
  "the database rejects a delivery that is %s, due %s and finished %s",
  async (status, due, end) => {
    const { id } = await subscribe(database.engine, undefined, {
      url: "https://example.com/events",
      workspaceId,
    });
    await expect(
      database.engine.query(
        `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version,
          status, next_at, finished_at)
        values ('dlv_1', $1, $2, 'event', 'evt_1', 'run.finished', 1, $3, $4, $5)`,
        [workspaceId, id, status, due, end],
      ),
    ).rejects.toThrow("deliveries_pending_check");
  },
);
