import { expect, onTestFinished, test } from "vitest";
import { captureLog } from "../../../test/capture-log.ts";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { openClient } from "../../../test/open-client.ts";
import { findHoldingTransaction, HorizonMonitor } from "./horizon.ts";

const { database, url } = await testDatabase({ empty: true });
const begun = "a transaction that does not end holds back events";
const ended = "events are no longer held back by the transaction";

/** Opens a transaction, and returns its id and how to end it. */
async function openTransaction() {
  const client = await openClient(url);
  onTestFinished(() => client.end());
  await client.query("begin");
  const { rows } = await client.query("select pg_current_xact_id()::xid::text as id");
  return { id: rows[0].id as string, end: () => client.query("commit") };
}

/** Waits until this is the oldest open transaction of the server and a later one has ended. */
async function becomesOldest(transaction: string): Promise<void> {
  await eventually("the oldest transaction", async () => {
    await database.engine.query("select pg_current_xact_id()");
    return (await findHoldingTransaction(database.engine)) === transaction || undefined;
  });
}

test("a transaction that stays open is logged once, and once when it has ended", async () => {
  const { log, named } = captureLog();
  let now = 0;
  const monitor = new HorizonMonitor(database.engine, log, () => now);
  const pollAt = async (time: number) => {
    now = time;
    await monitor.poll();
    return monitor.heldBackSeconds;
  };
  const { id, end } = await openTransaction();
  await becomesOldest(id);
  expect(await pollAt(1_000)).toBe(0);
  expect(await pollAt(26_000)).toBe(25);
  expect(named(begun)).toEqual([]);
  expect(await pollAt(31_000)).toBe(30);
  expect(await pollAt(91_000)).toBe(90);
  expect(named(begun)).toMatchObject([{ level: "warn", transaction: id, duration_ms: 30_000 }]);
  expect(named(ended)).toEqual([]);
  await end();
  expect(await pollAt(92_000)).toBe(0);
  expect(named(ended)).toMatchObject([{ level: "info", transaction: id, duration_ms: 91_000 }]);
});

test("transactions that follow each other hold back no events, although one is always open", async () => {
  const { log, lines } = captureLog();
  let now = 0;
  const monitor = new HorizonMonitor(database.engine, log, () => now);
  let previous = await openTransaction();
  for (; now < 120_000; now += 20_000) {
    await becomesOldest(previous.id);
    await monitor.poll();
    expect(monitor.heldBackSeconds).toBe(0);
    const next = await openTransaction();
    await previous.end();
    previous = next;
  }
  await previous.end();
  expect(lines).toEqual([]);
});
