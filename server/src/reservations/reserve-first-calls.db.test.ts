import { describe, expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { wrongWithBudgets } from "../../test/limits.ts";
import {
  appendRow,
  type SeededAgent,
  seedAgent,
  seedProcess,
  startedOf,
  startRow,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../test/write-runs.ts";
import { reachedStatement } from "../runs/reached-statement.ts";
import type { StartRow } from "../runs/starting/start-row.ts";
import { noAmounts } from "./budget.ts";
import { reserveForRuns } from "./reserve.ts";

/** What the start of a run reserves for its first model call. */

const { database } = await testDatabase();
const { engine } = database;
const owner = await seedProcess(database);

async function addBudget(
  { workspaceId, agentId }: SeededAgent,
  allowed: number | null,
  {
    kind = "agent",
    metric = "cost",
    endsIn = "1 hour",
  }: { kind?: string; metric?: string; endsIn?: string } = {},
): Promise<number> {
  const { rows } = await engine.query<{ id: string }>(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
      values ($1, $2, $3, $4, $5, now() - interval '1 hour', now() + $6::interval) returning id`,
    [workspaceId, kind === "agent" ? agentId : workspaceId, kind, metric, allowed, endsIn],
  );
  return Number(rows[0]?.id);
}

async function reservedIn(id: number): Promise<number> {
  const { rows } = await engine.query<{ reserved: number }>(
    "select reserved::int from budgets where id = $1",
    [id],
  );
  return rows[0]?.reserved ?? Number.NaN;
}

const calling = (agent: SeededAgent, cost: number | null, rest: Partial<StartRow> = {}) =>
  startRow(agent, {
    owner,
    checksLimits: true,
    firstCallAmounts: { ...noAmounts, costMicros: cost, planCostMicros: cost, tokens: 10 },
    ...rest,
  });
const start = async (...rows: StartRow[]) => (await startRuns(database, rows)).map(startedOf);
const reserved = async (...rows: StartRow[]) =>
  (await start(...rows)).map(({ firstCallReserved }) => firstCallReserved);

test("is held in every budget that applies, until the run ends", async () => {
  const agent = await seedAgent(database);
  const ids = [
    await addBudget(agent, 1_000),
    await addBudget(agent, null, { kind: "workspace" }),
    await addBudget(agent, 1_000, { kind: "plan", metric: "tokens" }),
  ];
  const [run] = await start(calling(agent, 300));
  expect(run?.firstCallReserved).toBe(true);
  expect(await Promise.all(ids.map(reservedIn))).toEqual([300, 300, 10]);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
  if (run !== undefined)
    await appendToRuns(database, [appendRow(run, owner, { transition: succeeded, calls: [] })]);
  expect(await Promise.all(ids.map(reservedIn))).toEqual([0, 0, 0]);
});

test("is not written twice if the same start is sent twice", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, 1_000);
  const row = calling(agent, 300);
  expect(await reserved(row)).toEqual([true]);
  // `false` is safe: before its first call, the run then requests a reservation, which replaces the
  // stored one.
  expect(await reserved(row)).toEqual([false]);
  expect(await reservedIn(id)).toBe(300);
});

test("is restricted if it uses any of the budgets that have an amount", async () => {
  const agent = await seedAgent(database);
  const restricted = async (cost = 1) =>
    (await start(calling(agent, cost))).map(({ firstCallReserved, firstCallRestricted }) => [
      firstCallReserved,
      firstCallRestricted,
    ]);
  await addBudget(agent, null, { kind: "plan", metric: "tokens" });
  await addBudget(agent, 1_000, { kind: "plan", metric: "voice" });
  expect(await restricted()).toEqual([[true, false]]);
  await addBudget(agent, 1_000);
  expect(await restricted()).toEqual([[true, true]]);
  expect(await restricted(0)).toEqual([[true, false]]);
});

test("can be replaced by a larger reservation of the run", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, 1_000);
  const [run] = await start(calling(agent, 300));
  const larger = { ...noAmounts, costMicros: 700, planCostMicros: 700, tokens: 700 };
  const call = { maxOutputTokens: 700, amountsOf: () => larger, used: noAmounts };
  const claim = { runId: run?.runId ?? "", workspaceId: agent.workspaceId, owner, fence: 1 };
  expect(await reserveForRuns(database, reachedStatement, [{ ...claim, call }])).toMatchObject([
    { kind: "granted" },
  ]);
  expect(await reservedIn(id)).toBe(700);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

describe("nothing is reserved", () => {
  const tooMuch = async (agent: SeededAgent, id: number, row: StartRow) => {
    expect(await reserved(row)).toEqual([false]);
    expect(await reservedIn(id)).toBe(0);
    expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
  };

  test("if less than half of what is left would stay free", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    await tooMuch(agent, id, calling(agent, 501));
    expect(await reserved(calling(agent, 500))).toEqual([true]);
    expect(await reserved(calling(agent, 1))).toEqual([false]);
  });

  test("if the runs of one batch together need more than half", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    const others = await seedAgent(database, { workspaceId: agent.workspaceId });
    expect(await reserved(calling(agent, 300), calling(others, 300), calling(agent, 300))).toEqual([
      false,
      false,
      false,
    ]);
    expect(await reservedIn(id)).toBe(0);
  });

  test("in a period that is over", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000, { endsIn: "-1 second" });
    await tooMuch(agent, id, calling(agent, 1));
  });

  test("if a run waits for the budget", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    await engine.query("update budgets set waiter_seen_at = clock_timestamp() where id = $1", [id]);
    await tooMuch(agent, id, calling(agent, 1));
  });

  test("and the start does not wait if another transaction has locked the budget", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    const other = await engine.connect();
    await other.query("begin");
    await other.query("select from budgets where id = $1 for update", [id]);
    await tooMuch(agent, id, calling(agent, 1));
    await other.query("rollback");
    other.release();
  });

  test("if a limit in money applies and no price is known", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    await tooMuch(agent, id, calling(agent, null));
  });

  test("for a run that is queued", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, 1_000);
    await tooMuch(agent, id, calling(agent, 1, { hasCapacity: false }));
  });

  test("for a run that no limit applies to", async () => {
    expect(await reserved(calling(await seedAgent(database), 1))).toEqual([false]);
  });
});

test("a budget with little left does not affect the runs of other agents in the batch", async () => {
  const poor = await seedAgent(database);
  const rich = await seedAgent(database, { workspaceId: poor.workspaceId });
  await addBudget(poor, 100);
  await addBudget(rich, 1_000);
  const whole = await addBudget(rich, 100_000, { kind: "workspace" });
  expect(await reserved(calling(poor, 90), calling(rich, 90))).toEqual([false, true]);
  expect(await reservedIn(whole)).toBe(90);
  expect(await wrongWithBudgets(engine, poor.workspaceId)).toEqual([]);
});
