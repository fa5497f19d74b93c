import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { disableSubscription } from "./disable.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);

test.each([
  ["has just succeeded is not disabled as failing", null, false],
  ["began to fail only now is not disabled as failing", 10, false],
  ["has failed for too long is disabled", 7_200, true],
])("a subscription that %s", async (_, failingSeconds, isDisabled) => {
  const { id } = await subscribe(database.engine, undefined, {
    url: "https://example.com/events",
    workspaceId,
  });
  await database.engine.query(
    "update subscriptions set failing_since = now() - make_interval(secs => $2) where id = $1",
    [id, failingSeconds],
  );
  const failing = { id, workspaceId, minFailingSeconds: 3_600 };
  expect(await disableSubscription(database, failing, "failing")).toBe(isDisabled);
});
