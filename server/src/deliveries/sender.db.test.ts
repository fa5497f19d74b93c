import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { createLog } from "../base/log.ts";
import { createSecretCipher, parseMasterKey } from "../base/secrets/index.ts";
import { defaultDeliveryLimits, startSender } from "./sender.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);
const masterKey = "1".repeat(64);

test("a delivery that is due is not claimed until the heap is no longer full", async () => {
  const { id } = await subscribe(database.engine, masterKey, {
    url: "https://example.com/events",
    workspaceId,
  });
  await database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      values ('dlv_1', $1, $2, 'event', 'evt_1', 'run.finished', 1, '{}', 'pending', now())`,
    [workspaceId, id],
  );
  let claimsWhileFull = 0;
  const heap = {
    get isFull() {
      if (claimsWhileFull === 2) return false;
      claimsWhileFull += 1;
      return true;
    },
  };
  const sent = Promise.withResolvers<number>();
  const sender = startSender({
    ...defaultDeliveryLimits,
    database,
    cipher: createSecretCipher(parseMasterKey(masterKey)),
    egress: {
      callForBeginning: async () => {
        sent.resolve(claimsWhileFull);
        return { status: 204, headers: {}, text: "" };
      },
    },
    memory: new ByteBudget({ maxBytes: 1_000_000 }),
    heap,
    log: createLog("silent"),
    metrics: { count() {}, observe() {} },
    publicUrl: () => "https://beckon.example.com",
    schedule: [0, 5],
    timeoutMs: 15_000,
  });
  onTestFinished(() => sender.stop(0));
  expect(await sent.promise).toBe(2);
});
