import { expect, test } from "vitest";
import { addUsage } from "../../../test/add-usage.ts";
import { testDatabase } from "../../../test/database.ts";
import { type SeededAgent, seedAgent } from "../../../test/tenant.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { putBudgets } from "./budget-store.ts";
import { countSpent } from "./count-spent.ts";

const { database } = await testDatabase();

const put = ({ workspaceId, agentId }: SeededAgent) =>
  inWorkspace(database.tenant, workspaceId, (tx) =>
    putBudgets(tx, [
      { workspaceId, scopeId: agentId, scopeKind: "agent", metric: "cost", allowed: 1_000 },
    ]),
  );

async function spentOf({ workspaceId }: SeededAgent): Promise<number | undefined> {
  const { rows } = await database.engine.query<{ spent: number }>(
    "select spent::int from budgets where workspace_id = $1",
    [workspaceId],
  );
  return rows[0]?.spent;
}

test("while a new budget is locked, only entries that it does not count yet are summed up", async () => {
  const agent = await seedAgent(database);
  await addUsage(database, agent, { cost_micros: 5 });
  const created = await put(agent);
  expect(await spentOf(agent)).toBe(5);
  // The transaction id of this entry is below `horizon`, so `countSpent` must not read the entry.
  // It would count the entry if it read all entries of the period again.
  await addUsage(database, agent, { cost_micros: 100, transaction: 1 });
  await addUsage(database, agent, { cost_micros: 7 });
  await countSpent(database, created);
  expect(await spentOf(agent)).toBe(12);
});

test("an entry that the budget counts already counts once, if an older transaction is open", async () => {
  const agent = await seedAgent(database);
  const older = await database.engine.connect();
  try {
    await older.query("begin");
    await older.query("select pg_current_xact_id()");
    await addUsage(database, agent, { cost_micros: 5 });
    const created = await put(agent);
    await older.query("commit");
    await countSpent(database, created);
    expect(await spentOf(agent)).toBe(5);
  } finally {
    older.release();
  }
});

test("a budget that was created again meanwhile, or whose next period has begun, keeps its sum", async () => {
  for (const change of ["id = 1000000000 + id", "starts = now()"]) {
    const agent = await seedAgent(database);
    await addUsage(database, agent, { cost_micros: 5 });
    const created = await put(agent);
    await database.engine.query(`update budgets set spent = 3, ${change} where workspace_id = $1`, [
      agent.workspaceId,
    ]);
    await countSpent(database, created);
    expect(await spentOf(agent)).toBe(3);
  }
});
