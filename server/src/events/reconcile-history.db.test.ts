import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { startRuns } from "../../test/write-runs.ts";
import { inWorkspace, type Queryable } from "../base/database/index.ts";
import { createLog } from "../base/log.ts";
import { beginning } from "./position.ts";
import { reconcileHistory } from "./reconcile-history.ts";
import { readEventBatch, readGeneration } from "./store.ts";
import { writeWorkspaceEvent } from "./workspace-event-store.ts";

const { database } = await testDatabase();
const agent = await seedAgent(database);
const owner = await seedProcess(database);
let logged = "";
const log = createLog("info", {
  output: {
    write(lines) {
      logged += lines;
    },
  },
});
/** The lines that announce that all events and runs are rewritten. */
const rewrites = () => logged.match(/"tables":.*"msg":"rows get lower transaction ids.*/g);
const start = () => startRuns(database, [startRow(agent, { owner })]);
const pause = () =>
  inWorkspace(database.tenant, agent.workspaceId, (tx) =>
    writeWorkspaceEvent(tx, agent, {
      type: "agent.paused",
      data: { reason: null, actor: "system" },
    }),
  );
const generation = async () =>
  (await readGeneration(database.engine, agent.workspaceId, beginning)).generation;

async function reconcile(): Promise<void> {
  const client = await database.engine.connect();
  await reconcileHistory(client, log);
  client.release();
}

/** Reconciles while another process writes an event after each statement. */
async function reconcileWhileWriting(): Promise<void> {
  const client = await database.engine.connect();
  const query = async (...args: Parameters<typeof client.query>) => {
    const result = await client.query(...args);
    await pause();
    return result;
  };
  await reconcileHistory({ query } as Queryable, log);
  client.release();
}

/** Returns the transaction id of each event, by the event's id. */
async function transactions(): Promise<ReadonlyMap<string, string>> {
  const { rows } = await database.engine.query<{ id: string; transaction: string }>(
    "select id, transaction from events union all select id, transaction from workspace_events",
  );
  return new Map(rows.map(({ id, transaction }) => [id, transaction]));
}

/** Simulates a failover: the cluster was on another timeline at the last startup. */
const failOver = () =>
  database.engine.query(
    "update installation set history = split_part(history, '.', 1) || '.00000000'",
  );

test("a restart keeps the generation", async () => {
  await reconcile();
  const before = await generation();
  await reconcile();
  expect(await generation()).toBe(before);
});

test("a restore begins a new generation, and earlier events sort before later ones", async () => {
  await reconcile();
  const before = await generation();
  await start();
  await pause();
  await start();
  await pause();
  // Simulates a copy from a cluster with higher transaction ids.
  await database.engine.query("update events set transaction = transaction + 1000000");
  await database.engine.query("update workspace_events set transaction = transaction + 1000000");
  await database.engine.query("update installation set history = 'another.00000001'");
  const old = await database.engine.query<{ id: string }>(
    `select id from (
        select id, transaction from events union all select id, transaction from workspace_events
      ) as e order by transaction`,
  );
  logged = "";
  await reconcile();
  expect(rewrites()).toHaveLength(1);
  await start();
  await pause();
  expect(await generation()).not.toBe(before);
  // Open transactions in other databases of this server can hide the newest events for a while.
  const ids = await eventually("the events after the restore", async () => {
    const { events } = await readEventBatch(database.engine, [agent.workspaceId], {
      after: beginning,
      limit: 10,
    });
    return events.length > old.rows.length + 1 ? events.map(({ id }) => id) : undefined;
  });
  expect(ids.slice(0, old.rows.length)).toEqual(old.rows.map(({ id }) => id));
  expect(ids).toHaveLength(old.rows.length + 2);
});

test("after a failover, no event gets another transaction id while other processes write", async () => {
  await reconcile();
  await start();
  await pause();
  const before = await transactions();
  const old = await generation();
  await failOver();
  logged = "";
  await reconcileWhileWriting();
  expect(rewrites()).toBeNull();
  expect(await generation()).not.toBe(old);
  const after = await transactions();
  expect(new Map([...after].filter(([id]) => before.has(id)))).toEqual(before);
});

test.each([
  [
    "failover to a standby",
    "split_part(history, '.', 1) || '.00000000'",
    "was promoted or recovered",
  ],
  ["move to another cluster", "'another.' || split_part(history, '.', 2)", "was restored or moved"],
])("after a %s, the log says that", async (_change, before, message) => {
  await reconcile();
  await database.engine.query(`update installation set history = ${before}`);
  logged = "";
  await reconcile();
  expect(logged.match(/"msg":.*since the last startup/g)).toEqual([
    expect.stringContaining(message),
  ]);
});
