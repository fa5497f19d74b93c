import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent, startOne } from "../../../test/tenant.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { createLiveRuns, createSubscribers } from "./subscribers.ts";
import { waitForRun } from "./wait.ts";

const { database } = await testDatabase();

test("a caller that waits for a queued run is a subscriber before the run is read", async () => {
  const subscribers = createSubscribers(database, {
    onFirstSubscriber: () => {},
    outputs: new ByteBudget({ maxBytes: 1_000_000 }),
  });
  const ports = {
    database,
    live: createLiveRuns(),
    subscribers,
    capacity: { isDraining: false },
  };
  const run = await startOne(database, await seedAgent(database));
  const gone = new AbortController();
  const waiting = waitForRun(ports, run, gone.signal);
  const subscribed = subscribers.poller.runIds;
  gone.abort();
  expect(await waiting).toBeUndefined();
  expect([subscribed, subscribers.poller.runIds]).toEqual([[run.runId], []]);
});
