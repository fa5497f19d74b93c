import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { seedAgent, seedProcess, startRow } from "../../test/tenant.ts";
import { createLog } from "../base/log.ts";
import { startRuns } from "../runs/starting/start-runs.ts";
import { beginning } from "./position.ts";
import { settleHistory } from "./settle-history.ts";
import { readGeneration, readStretch } from "./store.ts";

const { database } = await testDatabase();
const agent = await seedAgent(database);
const owner = await seedProcess(database);
const log = createLog("silent");
const start = () => startRuns(database, [startRow(agent, { owner })]);
const generation = async () => (await readGeneration(database.engine, beginning)).generation;

async function settle(): Promise<void> {
  const client = await database.engine.connect();
  await settleHistory(client, log);
  client.release();
}

test("a start after a restart keeps the generation", async () => {
  await settle();
  const before = await generation();
  await settle();
  expect(await generation()).toBe(before);
});

test("a start after a restore has a new generation, and what was written before stays before what is to come", async () => {
  await settle();
  const before = await generation();
  await start();
  await start();
  // As a copy from a cluster that has come further than this one.
  await database.engine.query("update events set transaction = transaction + 1000000");
  await database.engine.query("update installation set history = 'another.00000001'");
  const old = await database.engine.query<{ run_id: string }>("select run_id from events order by transaction");
  await settle();
  await start();
  expect(await generation()).not.toBe(before);
  const { events } = await readStretch(database.engine, [agent.workspaceId], { after: beginning, limit: 10 });
  expect(events.slice(0, old.rows.length).map(({ runId }) => runId)).toEqual(old.rows.map(({ run_id }) => run_id));
  expect(events).toHaveLength(old.rows.length + 1);
});
