import { beforeEach, expect, test } from "vitest";
import { addRun } from "../../test/add-run.ts";
import { captureLog } from "../../test/capture-log.ts";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedProcess } from "../../test/tenant.ts";
import { readConfig } from "../config.ts";
import { prune } from "./prune.ts";

const { database } = await testDatabase();
const query = (text: string) => database.engine.query(text);
const owner = await seedAgent(database);
let processId: string;

beforeEach(async () => {
  await query("delete from processes");
  await query("update installation set running_since = null");
  processId = await seedProcess(database);
  const createdAt = new Date(Date.now() - 31 * 24 * 3_600_000);
  await addRun(database, owner, { createdAt });
});

/** Begins a pass of a process, and returns whether it deleted the old run. */
async function deletes(id = processId): Promise<boolean> {
  const services = {
    database,
    retention: readConfig({}).retention,
    process: { id },
    metrics: { count() {} },
    log: captureLog().log,
  };
  const { signal } = new AbortController();
  await prune(services, { signal, intervalSeconds: 0, pace: () => 0 });
  return (await query("select from runs")).rowCount === 0;
}

/** Has the effect on the leases of setting the database's clock forward. */
const setForward = () =>
  query("update processes set lease_until = lease_until - interval '1 year'");
/** Moves the end of the last time without any process. */
const setRunningSince = (time: string) => query(`update installation set running_since = ${time}`);

test("after the database's clock was set forward, no pass begins before half an hour has passed", async () => {
  await setForward();
  expect(await deletes()).toBe(false);
  // The first process that registers or renews its lease records the time.
  const next = await seedProcess(database);
  expect(await deletes(next)).toBe(false);
  await setRunningSince("now() - interval '29 minutes'");
  expect(await deletes(next)).toBe(false);
  await setRunningSince("now() - interval '31 minutes'");
  expect(await deletes(next)).toBe(true);
});

test("once the clock was set back, a pass begins", async () => {
  await setRunningSince("now() + interval '1 year'");
  expect(await deletes()).toBe(true);
});

test("a restart within 10 minutes does not delay a pass", async () => {
  await query("update processes set died_at = now(), lease_until = now() - interval '9 minutes'");
  expect(await deletes(await seedProcess(database))).toBe(true);
});
