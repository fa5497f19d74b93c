import { expect, test } from "vitest";
import { testDatabase } from "../test/database.ts";
import { subscribe } from "../test/subscribe.ts";
import { seedAgent, seedProcess, startOne } from "../test/tenant.ts";
import { createLog } from "./base/log.ts";
import { markRestored } from "./events/index.ts";
import { PriceTable, readOperatorPrices } from "./prices/index.ts";
import { reconcileRestore } from "./reconcile-restore.ts";

const { database } = await testDatabase();
const { engine } = database;
const agent = await seedAgent(database);
const log = createLog("silent");

async function reconcile(): Promise<void> {
  const client = await engine.connect();
  try {
    const prices = new PriceTable(await readOperatorPrices(undefined));
    await reconcileRestore({ client, database, operator: undefined, prices }, log);
  } finally {
    client.release();
  }
}

async function generation(): Promise<string> {
  const { rows } = await engine.query<{ generation: string }>(
    "select generation from installation",
  );
  return rows[0]?.generation ?? "";
}

async function statuses(table: "runs" | "deliveries"): Promise<string[]> {
  const { rows } = await engine.query<{ status: string }>(`select status from ${table}`);
  return rows.map(({ status }) => status).sort();
}

/** Writes a running, a queued and a held run, each with a pending delivery. */
async function startThree(): Promise<void> {
  await startOne(database, agent, { owner: await seedProcess(database) });
  await startOne(database, agent);
  const { runId } = await startOne(database, agent);
  await engine.query("update runs set status = 'waiting' where id = $1", [runId]);
}

test("a failover changes the cursors, and runs and deliveries continue", async () => {
  await subscribe(engine, undefined, {
    url: "http://127.0.0.1:9/",
    workspaceId: agent.workspaceId,
  });
  await reconcile();
  await startThree();
  const before = await generation();
  await engine.query("update installation set history = 'another.00000002'");
  await reconcile();
  expect(await generation()).not.toBe(before);
  expect(await statuses("runs")).toEqual(["queued", "running", "waiting"]);
  expect(new Set(await statuses("deliveries"))).toEqual(new Set(["pending"]));
});

test("a restored backup ends all runs, sends no delivery, and is reconciled once", async () => {
  const before = await generation();
  await markRestored(engine);
  await reconcile();
  const after = await generation();
  expect(after).not.toBe(before);
  expect(await statuses("runs")).toEqual(["failed", "failed", "failed"]);
  const { rows } = await engine.query<{ error_code: string }>(
    "select distinct error_code from run_results",
  );
  expect(rows).toEqual([{ error_code: "interrupted" }]);
  expect(new Set(await statuses("deliveries"))).toEqual(new Set(["not_sent"]));
  await startThree();
  await reconcile();
  expect(await generation()).toBe(after);
  expect((await statuses("runs")).filter((status) => status !== "failed")).toHaveLength(3);
});
