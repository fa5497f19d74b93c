import { expect, test } from "vitest";
import { testDatabase } from "../test/database.ts";
import { entriesOf } from "../test/ledger.ts";
import { probedOperator } from "../test/probed-operator.ts";
import { subscribe } from "../test/subscribe.ts";
import { seedAgent, seedProcess, startOne } from "../test/tenant.ts";
import type { OperatorProviders } from "./base/context.ts";
import { createLog } from "./base/log.ts";
import { markRestored } from "./events/index.ts";
import { PriceTable, readOperatorPrices } from "./prices/index.ts";
import { reconcileRestore } from "./reconcile-restore.ts";
import { noAmounts } from "./reservations/budget.ts";
import { reserveForRuns } from "./reservations/reserve.ts";
import { reachedStatement } from "./runs/reached-statement.ts";

const { database } = await testDatabase();
const { engine } = database;
const agent = await seedAgent(database);
const log = createLog("silent");

async function reconcile(operator?: OperatorProviders): Promise<void> {
  const client = await engine.connect();
  try {
    const prices = new PriceTable(await readOperatorPrices(undefined));
    await reconcileRestore({ client, database, operator, prices }, log);
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

const owner = await seedProcess(database);

/**
 * Writes a running, a queued and a held (`waiting`) run. The subscription of the first test gives
 * each a pending delivery.
 */
async function startThree() {
  const checksLimits = true;
  const running = await startOne(database, agent, { owner, checksLimits });
  await startOne(database, agent, { checksLimits });
  const { runId } = await startOne(database, agent, { checksLimits });
  await engine.query("update runs set status = 'waiting' where id = $1", [runId]);
  return running;
}

/** Lets the run reserve an amount of a new limit of its workspace. */
async function reserve(runId: string): Promise<void> {
  await engine.query(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
      values ($1, $1, 'workspace', 'cost', 1000, now(), now() + interval '1 hour')`,
    [agent.workspaceId],
  );
  const amountsOf = (costMicros: number) => ({ ...noAmounts, costMicros });
  const call = { maxOutputTokens: 400, amountsOf, used: noAmounts };
  await reserveForRuns(database, reachedStatement, [
    { runId, workspaceId: agent.workspaceId, owner, fence: 1, call },
  ]);
}

async function reserved(): Promise<number | undefined> {
  const { rows } = await engine.query<{ reserved: number }>("select reserved::int from budgets");
  return rows[0]?.reserved;
}

let running: Awaited<ReturnType<typeof startThree>>;

test("a failover changes the cursors, and runs and deliveries continue", async () => {
  await subscribe(engine, undefined, {
    url: "http://127.0.0.1:9/",
    workspaceId: agent.workspaceId,
  });
  await reconcile();
  running = await startThree();
  const before = await generation();
  await engine.query("update installation set history = 'another.00000002'");
  await reconcile();
  expect(await generation()).not.toBe(before);
  expect(await statuses("runs")).toEqual(["queued", "running", "waiting"]);
  expect(new Set(await statuses("deliveries"))).toEqual(new Set(["pending"]));
});

test("a restored backup ends all runs, returns what they reserved, sends no delivery, and is reconciled once", async () => {
  await reserve(running.runId);
  expect(await reserved()).toBe(400);
  const before = await generation();
  await markRestored(engine);
  await reconcile();
  const after = await generation();
  expect(after).not.toBe(before);
  expect(await statuses("runs")).toEqual(["failed", "failed", "failed"]);
  expect(await reserved()).toBe(0);
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

test("the lost call of a model server costs nothing, although the server was not found yet", async () => {
  const caller = await seedAgent(database);
  const { workspaceId, agentId } = caller;
  await engine.query(
    `update agent_versions set config = config || '{"model": "ollama/llama3.2"}' where agent_id = $1`,
    [agentId],
  );
  const { runId } = await startOne(database, caller, { owner: await seedProcess(database) });
  await markRestored(engine);
  await reconcile(await probedOperator(workspaceId, ["ollama"], () => {}));
  expect(await entriesOf(engine, runId)).toMatchObject([
    { outcome: "lost", provider: "ollama", cost_micros: 0, standard_cost_micros: 0 },
  ]);
});
