import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { subscribe } from "../../test/subscribe.ts";
import { seedAgent } from "../../test/tenant.ts";
import { ByteBudget } from "../base/byte-budget.ts";
import { createLog } from "../base/log.ts";
import { createSecretCipher, parseMasterKey } from "../base/secrets/index.ts";
import { recordDeaths, registerProcess } from "../processes/index.ts";
import { defaultDeliveryLimits, type SenderOptions, startSender } from "./sender.ts";

const { database } = await testDatabase();
const { workspaceId } = await seedAgent(database);
const masterKey = "1".repeat(64);
// A test must not send the deliveries of the tests before it.
beforeEach(() => database.engine.query("delete from deliveries"));

/** Starts a sender, and stops it after the test. */
function start(options: Partial<SenderOptions>): void {
  const sender = startSender({
    ...defaultDeliveryLimits,
    database,
    cipher: createSecretCipher(parseMasterKey(masterKey)),
    egress: { callForBeginning: () => Promise.reject(new Error("nothing is due")) },
    memory: new ByteBudget({ maxBytes: 1_000_000 }),
    heap: { isFull: false },
    process: { id: "prc_1" },
    log: createLog("silent"),
    metrics: { count() {}, observe() {} },
    publicUrl: () => "https://beckon.example.com",
    schedule: [0, 5],
    timeoutMs: 15_000,
    ...options,
  });
  onTestFinished(() => sender.stop(0));
}

/** Writes deliveries that are due, of one new subscription. @returns the subscription's id. */
async function insertDeliveries(...ids: readonly string[]): Promise<string> {
  const subscription = await subscribe(database.engine, masterKey, {
    url: "https://example.com/events",
    workspaceId,
  });
  await database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      select unnest($1::text[]), $2, $3, 'event', 'evt_1', 'run.finished', 1, '{}', 'pending', now()`,
    [ids, workspaceId, subscription.id],
  );
  return subscription.id;
}

test("a delivery that is due is not claimed until the heap is no longer full", async () => {
  await insertDeliveries("dlv_1");
  let claimsWhileFull = 0;
  const heap = {
    get isFull() {
      if (claimsWhileFull === 2) return false;
      claimsWhileFull += 1;
      return true;
    },
  };
  const sent = Promise.withResolvers<number>();
  start({
    egress: {
      callForBeginning: async () => {
        sent.resolve(claimsWhileFull);
        return { status: 204, headers: {}, text: "" };
      },
    },
    heap,
  });
  expect(await sent.promise).toBe(2);
});

test("an attempt that ends with an unexpected error is an outcome", async () => {
  const outcome = Promise.withResolvers<unknown>();
  await insertDeliveries("dlv_2");
  start({
    memory: { hold: () => expect.fail("unexpected") } as unknown as ByteBudget,
    metrics: { count: (_, [kind]) => outcome.resolve(kind), observe() {} },
  });
  expect(await outcome.promise).toBe("retry");
});

test("a bug before the request was sent is logged, and the receiver stays healthy", async () => {
  const subscriptionId = await insertDeliveries("dlv_4");
  const failed = Promise.withResolvers<void>();
  const { log, named } = captureLog();
  start({
    publicUrl: () => expect.fail("a bug"),
    log,
    metrics: { count: () => failed.resolve(), observe() {} },
  });
  await failed.promise;
  expect(named("an attempt of a delivery ended with an internal error")).toMatchObject([
    { delivery_id: "dlv_4", reason: "a bug", stack: expect.any(String) },
  ]);
  const attempt = async () => {
    const { rows } = await database.engine.query(
      `select s.failing_since, a.error from subscriptions s
        join delivery_attempts a on a.subscription_id = s.id where s.id = $1`,
      [subscriptionId],
    );
    return rows;
  };
  await expect
    .poll(attempt)
    .toEqual([{ failing_since: null, error: expect.stringContaining("internal error") }]);
});

test("outages of a subscription's URL and of its callbacks' URLs are logged separately", async () => {
  const subscriptionId = await insertDeliveries("dlv_6", "dlv_7");
  await database.engine.query(
    `update deliveries set kind = 'callback', callback_url = 'https://example.com/callback'
      where subscription_id = $1 and id = 'dlv_7'`,
    [subscriptionId],
  );
  const { log, named } = captureLog();
  start({
    egress: { callForBeginning: async () => ({ status: 500, headers: {}, text: "" }) },
    log,
  });
  const failed = () => named("delivery failed").map(({ delivery_id }) => delivery_id);
  await expect.poll(() => failed().sort()).toEqual(["dlv_6", "dlv_7"]);
});

/** A database whose engine sends each query by \`send\`. */
function databaseWith(send: (query: { name?: string }, execute: () => unknown) => unknown) {
  const { engine } = database;
  const query = engine.query.bind(engine) as (...args: unknown[]) => unknown;
  return {
    ...database,
    engine: Object.assign(Object.create(engine), {
      query: (...args: [{ name?: string }]) => send(args[0], () => query(...args)),
    }),
  } as typeof database;
}

test("a delivery whose outcome waits for the database for longer than the lease is sent once", async () => {
  await insertDeliveries("dlv_5");
  let sends = 0;
  let claims = 0;
  let isLost = true;
  start({
    timeoutMs: 1_000,
    egress: {
      callForBeginning: async () => {
        sends += 1;
        return { status: 204, headers: {}, text: "" };
      },
    },
    database: databaseWith(({ name }, execute) => {
      if (name === "claim-deliveries") claims += 1;
      if (name !== "record-deliveries" || !isLost) return execute();
      return Promise.reject(Object.assign(new Error("lost"), { code: "ECONNREFUSED" }));
    }),
  });
  const state = async () => {
    const { rows } = await database.engine.query(
      "select status, next_at < now() as is_due, claims from deliveries where id = 'dlv_5'",
    );
    return { sends, ...rows[0] };
  };
  await expect.poll(state).toMatchObject({ sends: 1, is_due: true, claims: 1 });
  const before = claims;
  await expect.poll(() => claims).toBeGreaterThan(before + 1);
  isLost = false;
  await expect.poll(state).toMatchObject({ status: "succeeded" });
  expect(sends).toBe(1);
});

test("while the database is lost, deliveries that wait in a lane are not sent", async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `dlv_lane_${index}`);
  const subscriptionId = await insertDeliveries(...ids);
  const receiving: (() => void)[] = [];
  let writes = 0;
  let isLost = true;
  start({
    egress: {
      callForBeginning: async (_url, { signal }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        receiving.push(resolve);
        signal?.addEventListener("abort", () => resolve());
        if (isLost) await promise;
        return { status: 204, headers: {}, text: "" };
      },
    },
    database: databaseWith(({ name }, execute) => {
      if (name !== "record-deliveries" || !isLost) return execute();
      writes += 1;
      return Promise.reject(Object.assign(new Error("lost"), { code: "ECONNREFUSED" }));
    }),
  });
  // A lane sends 10 deliveries at the same time.
  await expect.poll(() => receiving.length).toBe(10);
  receiving[0]?.();
  await expect.poll(() => writes).toBeGreaterThan(4);
  receiving[1]?.();
  const before = writes;
  await expect.poll(() => writes).toBeGreaterThan(before + 1);
  expect(receiving).toHaveLength(11);
  isLost = false;
  for (const respond of receiving) respond();
  const succeeded = async () => {
    const { rows } = await database.engine.query(
      `select count(*)::int as count from deliveries
        where subscription_id = $1 and status = 'succeeded'`,
      [subscriptionId],
    );
    return rows[0].count;
  };
  await expect.poll(succeeded).toBe(12);
  expect(receiving).toHaveLength(12);
});

test("the data of a deleted run is not sent by a delivery that waits in a lane", async () => {
  // Only the clock for durations is replaced, so the delivery ages although the sender works.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const ids = Array.from({ length: 11 }, (_, index) => `dlv_deleted_${index}`);
  const subscriptionId = await insertDeliveries(...ids);
  await database.engine.query("update deliveries set event_id = id");
  const sent: string[] = [];
  const freed = Promise.withResolvers<void>();
  start({
    egress: {
      callForBeginning: async (_url, { headers }) => {
        sent.push(String(headers?.["webhook-id"]));
        await freed.promise;
        return { status: 204, headers: {}, text: "" };
      },
    },
  });
  const withState = async (status: string, claims: number) => {
    const { rows } = await database.engine.query<{ id: string }>(
      "select id from deliveries where subscription_id = $1 and status = $2 and claims = $3",
      [subscriptionId, status, claims],
    );
    return rows.map(({ id }) => id);
  };
  await expect.poll(() => withState("pending", 1)).toHaveLength(11);
  await expect.poll(() => sent.length).toBe(10);
  const waiting = ids.filter((id) => !sent.includes(id));
  // What the deletion of a run does to its deliveries.
  await database.engine.query(
    `update deliveries set data = null, status = 'cancelled', next_at = null, finished_at = now()
      where id = any ($1::text[])`,
    [waiting],
  );
  vi.advanceTimersByTime(1_001);
  freed.resolve();
  await expect.poll(() => withState("succeeded", 0)).toHaveLength(10);
  await expect.poll(() => withState("cancelled", 0)).toEqual(waiting);
  expect(sent).toHaveLength(10);
});

test("a lease is longer than the waits and the attempt together, so that no other process sends too", async () => {
  await insertDeliveries("dlv_3");
  const lease = Promise.withResolvers<number>();
  const timeoutMs = 600_000;
  start({
    timeoutMs,
    egress: {
      callForBeginning: async () => {
        const { rows } = await database.engine.query(
          `select extract(epoch from next_at - now())::float8 * 1000 as left from deliveries
            where id = 'dlv_3' and claims = 1`,
        );
        if (rows[0] !== undefined) lease.resolve(rows[0].left);
        return { status: 204, headers: {}, text: "" };
      },
    },
  });
  // A delivery waits in its lane for up to 1.3 times the timeout, and for memory for 0.3 times.
  expect(await lease.promise).toBeGreaterThan(2.6 * timeoutMs);
});

test("only the first of the living processes closes deliveries of paused subscriptions", async () => {
  const { id } = await subscribe(database.engine, masterKey, {
    url: "https://example.com/events",
    workspaceId,
    status: "paused",
  });
  await database.engine.query(
    `insert into deliveries (id, workspace_id, subscription_id, kind, event_id, type, version, data,
        status, next_at)
      values ('dlv_2', $1, $2, 'event', 'evt_2', 'run.finished', 1, '{}', 'pending', now())`,
    [workspaceId, id],
  );
  const status = async () =>
    (await database.engine.query("select status from deliveries where subscription_id = $1", [id]))
      .rows[0].status;
  await registerProcess(database.engine, "prc_1", 600);
  let sweeps = 0;
  const swept = Promise.withResolvers<void>();
  start({
    sweepMs: 1,
    process: {
      get id() {
        sweeps += 1;
        if (sweeps > 2) swept.resolve();
        return "prc_2";
      },
    },
  });
  await swept.promise;
  expect(await status()).toBe("pending");
  await recordDeaths(database.engine, ["prc_1"], "");
  await expect.poll(status).toBe("not_sent");
});
