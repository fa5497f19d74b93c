import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill } from "node:process";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { startGuard } from "../../test/guard.ts";
import { seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { startRuns } from "../../test/write-runs.ts";
import { startEmbedded } from "../base/database/embedded/index.ts";
import { connect, migrate, openProcessMessages } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { createEventPoller } from "./event-poller.ts";
import { readEnd, readGeneration } from "./store.ts";
import { subscribeToWorkspace } from "./subscribe.ts";

/**
 * This file uses its own PostgreSQL, which it kills. After a crash, PostgreSQL assigns the ids
 * again of those transactions of which nothing was on the disk. With `wal_writer_delay` it writes
 * to the disk only when a transaction is committed. Without fsync, the system's page cache is the
 * disk.
 */
const settings = { wal_writer_delay: "10s", fsync: "off" };

const guard = startGuard();
const dataDir = await mkdtemp(join(tmpdir(), "beckon-test-crashed-"));
guard.watch(dataDir);
const log = createLog("silent");
const embedded = await startEmbedded({ dataDir, log, settings });
if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
const database = connect({ url: embedded.url, poolSize: 4, role: undefined, log });
await migrate(database.settings, async () => {});
const processMessages = openProcessMessages(database, log);
afterAll(async () => {
  await processMessages.close();
  await database.close();
  await embedded.stop();
  await guard.release();
});

const agent = await seedAgent(database);
const owner = await seedProcess(database);

/** Starts a run, and returns its id. */
async function start(): Promise<string> {
  const row = startRow(agent, { owner });
  await startRuns(database, [row]);
  return row.runId;
}

/** Rolls back many transactions that have ids. Nothing of them is on the disk. */
async function waste(): Promise<void> {
  const client = await database.engine.connect();
  try {
    for (let count = 0; count < 1_000; count++)
      await client.query("begin; select pg_current_xact_id(); rollback");
  } finally {
    client.release();
  }
}

/** Kills PostgreSQL, and waits until the next one accepts connections. */
async function crash(): Promise<void> {
  const { pid } = embedded;
  kill(pid, "SIGKILL");
  await eventually("a new PostgreSQL", () => embedded.pid !== pid || undefined);
  await eventually("a connection", () => database.engine.query("select").catch(() => undefined));
}

test("a position that was issued before a crash is possible afterwards", async () => {
  await waste();
  const cursor = await readEnd(database.engine);
  await crash();
  const { possible } = await readGeneration(database.engine, agent.workspaceId, cursor);
  expect(possible).toBe(true);
});

test("a stream has the events of transactions whose ids were assigned again after a crash", async () => {
  const eventPoller = createEventPoller({ database, processMessages, log });
  const ending = new AbortController();
  onTestFinished(() => {
    ending.abort();
    eventPoller.close();
  });
  const after = await readEnd(database.engine);
  const options = { after, signal: ending.signal };
  const events = subscribeToWorkspace({ eventPoller }, agent.workspaceId, options);
  const first = events.next();
  const before = await start();
  expect((await first).value).toMatchObject([{ runId: before }]);

  const polled = vi.spyOn(database.engine, "query");
  await waste();
  const { length } = polled.mock.calls;
  await eventually("two polls", () => {
    eventPoller.wake();
    return polled.mock.calls.length > length + 1 || undefined;
  });
  await crash();
  const next = events.next();
  const later = await start();
  eventPoller.noteWritten();
  expect((await next).value).toMatchObject([{ runId: later }]);
});
