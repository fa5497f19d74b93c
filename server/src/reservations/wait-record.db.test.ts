import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { type SeededAgent, seedAgent, seedProcess, startOne } from "../../test/tenant.ts";
import { createMutex } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { claimAbandoned } from "../runs/claiming/abandoned-statement.ts";
import { readWasWaiting } from "../runs/journal/index.ts";
import { reachedStatement } from "../runs/reached-statement.ts";
import { noAmounts } from "./budget.ts";
import { Reservations } from "./reservations.ts";

const { database } = await testDatabase();
const { engine } = database;
const { signal } = new AbortController();

const createReservations = () => new Reservations(database, createMutex(), reachedStatement);

/** Starts a run of the agent in a new process. */
async function startRun(agent: SeededAgent) {
  const owner = await seedProcess(database);
  const { runId } = await startOne(database, agent, { owner, checksLimits: true });
  const reservations = createReservations();
  const claim = { runId, workspaceId: agent.workspaceId, owner, fence: 1 };
  const amounts = { ...noAmounts, costMicros: 1, planCostMicros: 1 };
  const call = { maxOutputTokens: 1, amountsOf: () => amounts, used: noAmounts };
  return {
    claim,
    holds: () => reservations.holds(runId),
    forget: () => reservations.forget(runId),
    record: (isWaiting: boolean) => reservations.recordWait(claim, isWaiting, signal),
    reserve: () => reservations.reserve({ ...claim, call }, signal),
    async rows() {
      const { rows } = await engine.query("select from reservations where run_id = $1", [runId]);
      return rows.length;
    },
  };
}

test("a run without limits has a reservation only while it waits for its provider", async () => {
  const { holds, record, rows } = await startRun(await seedAgent(database));
  for (const isWaiting of [true, false, true, false]) {
    await record(isWaiting);
    expect([holds(), await rows()]).toEqual([isWaiting, isWaiting ? 1 : 0]);
  }
});

test("a run keeps what it has reserved after it has waited for its provider", async () => {
  const agent = await seedAgent(database);
  await engine.query(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
      values ($1, $2, 'agent', 'cost', 1000, now() - interval '1 hour', now() + interval '1 hour')`,
    [agent.workspaceId, agent.agentId],
  );
  const { holds, forget, record, reserve, rows } = await startRun(agent);
  expect(await reserve()).toMatchObject({ kind: "granted" });
  await record(true);
  await record(false);
  expect([holds(), await rows()]).toEqual([true, 1]);
  forget();
  expect(holds()).toBe(false);
});

test("a run of which this process knows nothing any more holds nothing, even if it waited", async () => {
  const { holds, forget, record } = await startRun(await seedAgent(database));
  await record(true);
  forget();
  expect(holds()).toBe(false);
});

test("a process that was declared dead leaves the record that its run waits for its provider", async () => {
  const { claim, record, rows } = await startRun(await seedAgent(database));
  await record(true);
  await engine.query("update processes set died_at = now() where id = $1", [claim.owner]);
  await record(false);
  expect(await readWasWaiting(database, claim)).toBe(true);

  const owner = await seedProcess(database);
  const { runs } = await claimAbandoned(database, { owner, eventIds: [newId("evt")] });
  const fence = runs[0]?.fence ?? 0;
  const next = createReservations();
  const recordNext = (isWaiting: boolean) =>
    next.recordWait({ ...claim, owner, fence }, isWaiting, signal);
  await recordNext(true);
  await record(false);
  expect(await readWasWaiting(database, claim)).toBe(true);
  await recordNext(false);
  expect(await rows()).toBe(0);
});
