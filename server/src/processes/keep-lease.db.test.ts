import { afterAll, expect, onTestFinished, test } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { startProxy } from "../../test/proxy.ts";
import { connect, type Database, openProcessMessages } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { createMetrics } from "../base/metrics/index.ts";
import { keepLease, OwnProcess, registerProcess } from "./index.ts";
import { renewLease } from "./process-store.ts";

const { database, url, role } = await testDatabase();
const proxy = await startProxy(url);
afterAll(() => proxy.close());
const { log } = captureLog();
const processMessages = openProcessMessages(database, log);
afterAll(() => processMessages.close());

/** Registers a process that renews its lease and can declare others dead. */
async function keep(connection: Database["lease"] = database.lease, leaseSeconds = 2) {
  const own = new OwnProcess(newId("prc"));
  await registerProcess(database.lease, own.id, leaseSeconds);
  const lease = keepLease({
    own,
    connection,
    leaseSeconds,
    processMessages,
    log,
    metrics: await createMetrics({ isOn: false }),
    dropRuns: () => expect.fail("the process was declared dead"),
    onNewId: () => expect.fail("the process was declared dead"),
    acceptsRuns: () => true,
  });
  onTestFinished(() => lease.stop());
  const declaredDead = (id: string) =>
    eventually(`the death of ${id}`, async () => {
      await lease.recordExpired();
      return (await isAlive(id)) ? undefined : true;
    });
  return { own, lease, declaredDead };
}

/** Registers a process that does not renew its lease. */
async function addProcess(seconds: number): Promise<string> {
  const id = newId("prc");
  await registerProcess(database.engine, id, seconds);
  return id;
}

async function isAlive(id: string): Promise<boolean> {
  const { rows } = await database.engine.query("select died_at from processes where id = $1", [id]);
  return rows[0]?.died_at === null;
}

test("a process that does not renew its lease is declared dead", async () => {
  const { declaredDead } = await keep();
  await declaredDead(await addProcess(0.1));
});

test("after the database's clock was set forward, every process gets the time to renew its lease", async () => {
  const { own, lease, declaredDead } = await keep();
  // After the process has declared another one dead, it has held its own lease long enough to
  // declare further ones dead at once.
  await declaredDead(await addProcess(0.1));
  const other = await addProcess(3_600);
  // Leases that are moved to the past have the same effect as a database clock that is set forward.
  await database.engine.query(
    "update processes set lease_until = now() - interval '1 second' where id = any ($1)",
    [[own.id, other]],
  );
  await lease.recordExpired();
  expect(await isAlive(other)).toBe(true);
  await eventually("the renewal of the own lease", async () => {
    const { rows } = await database.engine.query(
      "select from processes where id = $1 and lease_until > now() + interval '1 second'",
      [own.id],
    );
    return rows.length > 0 || undefined;
  });
  await lease.recordExpired();
  expect(await isAlive(other)).toBe(true);
  await declaredDead(other);
});

/** Sets leases an hour ahead, with the same effect as a database clock that is set back. */
const setBack = (ids: readonly string[]) =>
  database.engine.query(
    "update processes set lease_until = now() + interval '1 hour' where id = any ($1)",
    [ids],
  );

test("after the database's clock was set back, a process that does not renew its lease is declared dead", async () => {
  const { own, declaredDead } = await keep();
  const other = await addProcess(0.1);
  await setBack([own.id, other]);
  await declaredDead(other);
});

test("after the database's clock was set back, every process gets the time to renew its lease", async () => {
  const { own, lease, declaredDead } = await keep();
  // After the process has declared another one dead, it has held its own lease long enough to
  // declare further ones dead at once.
  await declaredDead(await addProcess(0.1));
  const other = await addProcess(0.1);
  await setBack([own.id, other]);
  await lease.recordExpired();
  expect(await isAlive(other)).toBe(true);
  await eventually("the renewal of the own lease", async () => {
    const { rows } = await database.engine.query(
      "select from processes where id = $1 and lease_until < now() + interval '1 minute'",
      [own.id],
    );
    return rows.length > 0 || undefined;
  });
  await lease.recordExpired();
  expect(await isAlive(other)).toBe(true);
  await declaredDead(other);
});

test("a renewal whose response is late gives every process the time to renew its lease as well", async () => {
  /**
   * If set, the next renewal first calls `expire`. When the database has renewed the lease, it
   * calls `renewed`, and passes the database's response on only after `response` has resolved.
   */
  let next: { readonly expire: () => Promise<unknown>; readonly renewed: () => void } | undefined;
  const response = Promise.withResolvers<void>();
  const connection = new Proxy(database.lease, {
    get: (pool, name) =>
      name === "query"
        ? async (text: string, values: unknown[]) => {
            if (next === undefined || !text.includes("update processes p set lease_until"))
              return pool.query(text, values);
            const { expire, renewed } = next;
            next = undefined;
            await expire();
            const result = await pool.query(text, values);
            renewed();
            await response.promise;
            return result;
          }
        : Reflect.get(pool, name),
  });
  const { own, lease, declaredDead } = await keep(connection);
  await declaredDead(await addProcess(0.1));
  const other = await addProcess(3_600);
  const expire = () =>
    database.engine.query(
      "update processes set lease_until = now() - interval '1 second' where id = any ($1)",
      [[own.id, other]],
    );
  await new Promise<void>((renewed) => {
    next = { expire, renewed };
  });
  const recorded = lease.recordExpired();
  response.resolve();
  await recorded;
  expect(await isAlive(other)).toBe(true);
});

test("the first renewal after all leases were invalid for 10 minutes records that Beckon runs since then", async () => {
  const ids = [await addProcess(10), await addProcess(10)] as const;
  const suspendFor = (time: string) =>
    database.engine.query("update processes set lease_until = now() - $1::interval", [time]);
  /** Returns whether the renewal recorded it. */
  const renew = async (id: string) => {
    await database.engine.query("update installation set running_since = null");
    await renewLease(database.engine, id, 10);
    const { rows } = await database.engine.query("select running_since from installation");
    return rows[0]?.running_since !== null;
  };
  await suspendFor("25 hours");
  expect([await renew(ids[0]), await renew(ids[1])]).toEqual([true, false]);
  await suspendFor("9 minutes");
  expect(await renew(ids[0])).toBe(false);
});

test("a renewal that gets no response is repeated on another connection before the lease expires", async () => {
  const leaseSeconds = 12;
  const far = connect({ url: proxy.urlFor(url), poolSize: 4, role, leaseSeconds, log });
  onTestFinished(() => far.close());
  const { own } = await keep(far.lease, leaseSeconds);
  await eventually("the first renewal", () => own.holdsLease(own.id) || undefined);

  proxy.changeWith((bytes) => bytes.includes("update processes p set lease_until"), {
    type: "blackHole",
  });
  await eventually("a lost renewal", () => proxy.weather.type === "blackHole" || undefined);
  proxy.weather = { type: "fair" };
  const readLease = async () => {
    const { rows } = await database.engine.query<{ until: Date }>(
      "select lease_until as until from processes where id = $1",
      [own.id],
    );
    return rows[0]?.until.getTime() ?? 0;
  };
  const until = await readLease();
  const renewedUntil = await eventually(
    "the next renewal",
    async () => {
      const later = await readLease();
      return later > until ? later : undefined;
    },
    30_000,
  );
  expect(renewedUntil - leaseSeconds * 1_000).toBeLessThan(until);
});
