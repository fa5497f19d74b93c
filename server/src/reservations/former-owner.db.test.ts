import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { wrongWithBudgets } from "../../test/limits.ts";
import { type SeededAgent, seedAgent, seedProcess, startOne } from "../../test/tenant.ts";
import { createMutex, type Mutex } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { claimAbandoned } from "../runs/claiming/abandoned-statement.ts";
import { readWasWaiting } from "../runs/journal/index.ts";
import { reachedStatement } from "../runs/reached-statement.ts";
import { noAmounts } from "./budget.ts";
import { Reservations } from "./reservations.ts";
import { type AskingRun, reserveForRuns } from "./reserve.ts";

/**
 * A process that lost a run, for example because it lost its connection, and another process that
 * has taken the run over. Each has its own `Reservations`, as in production.
 */

const { database } = await testDatabase();
const { engine } = database;
const { signal } = new AbortController();
const createReservations = (mutex: Mutex = createMutex()) =>
  new Reservations(database, mutex, reachedStatement);

type Claim = Omit<AskingRun, "call">;

/** Adds a limit of 1,000 for the agent, and returns its id. */
async function addLimit({ workspaceId, agentId }: SeededAgent): Promise<string> {
  const { rows } = await engine.query<{ id: string }>(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
      values ($1, $2, 'agent', 'cost', 1000, now() - interval '1 hour', now() + interval '1 hour')
      returning id`,
    [workspaceId, agentId],
  );
  return rows[0]?.id ?? "";
}

async function reservedIn(limit: string): Promise<number | undefined> {
  const { rows } = await engine.query<{ reserved: number }>(
    "select reserved::int from budgets where id = $1",
    [limit],
  );
  return rows[0]?.reserved;
}

const asking = (claim: Claim, cost: number): AskingRun => ({
  ...claim,
  call: {
    maxOutputTokens: 100,
    amountsOf: () => ({ ...noAmounts, costMicros: cost, planCostMicros: cost }),
    used: noAmounts,
  },
});

/** Starts a run that a new process executes. */
async function startRun(agent: SeededAgent): Promise<Claim> {
  const owner = await seedProcess(database);
  const run = await startOne(database, agent, { owner, checksLimits: true });
  return { runId: run.runId, workspaceId: agent.workspaceId, owner, fence: 1 };
}

const declareDead = ({ owner }: Claim) =>
  engine.query("update processes set died_at = now() where id = $1", [owner]);

/** Declares the owner of the run dead, and lets another process take the run over. */
async function takeOver(former: Claim): Promise<Claim> {
  await declareDead(former);
  const { runId, workspaceId } = former;
  const successor = await seedProcess(database);
  const { runs } = await claimAbandoned(database, { owner: successor, eventIds: [newId("evt")] });
  expect(runs.map((run) => run.runId)).toEqual([runId]);
  return { runId, workspaceId, owner: successor, fence: runs[0]?.fence ?? 0 };
}

/** Returns a process whose requests reach the database only after `connect` is called. */
function createDisconnected() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reservations = createReservations((act) => promise.then(act));
  return { reservations, connect: resolve };
}

test("a late request of a run's former owner does not replace what the new owner has reserved", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const former = await startRun(agent);
  const { reservations, connect } = createDisconnected();
  const late = reservations.reserve(asking(former, 100), signal);
  const present = await takeOver(former);
  expect(await createReservations().reserve(asking(present, 700), signal)).toMatchObject({
    kind: "granted",
  });
  connect();
  expect(await late).toEqual({ kind: "fenced" });
  expect(await reservedIn(limit)).toBe(700);
  expect(reservations.holds(former.runId)).toBe(false);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a former owner that returns the reservation of the start keeps that of the new owner", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const former = await startRun(agent);
  const { reservations, connect } = createDisconnected();
  const late = reservations.returnFirstCall(former, signal);
  const present = await takeOver(former);
  await createReservations().reserve(asking(present, 700), signal);
  connect();
  await late;
  expect(await reservedIn(limit)).toBe(700);
});

test("a former owner reserves nothing, even if the new owner has not reserved yet", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const former = await startRun(agent);
  const other = await startRun(agent);
  await takeOver(former);
  // The two runs ask in one statement, which must still reserve for the run with a valid claim.
  const reservations = createReservations();
  expect(
    await Promise.all([
      reservations.reserve(asking(former, 100), signal),
      reservations.reserve(asking(other, 200), signal),
    ]),
  ).toMatchObject([{ kind: "fenced" }, { kind: "granted", isLimited: true }]);
  expect(await reservedIn(limit)).toBe(200);
});

test("a process that was declared dead and claims its own run again reserves for the new claim only", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const former = await startRun(agent);
  const present = await takeOver(former);
  const reservations = createReservations();
  expect(
    await Promise.all([
      reservations.reserve(asking(present, 700), signal),
      reservations.reserve(asking(former, 100), signal),
    ]),
  ).toMatchObject([{ kind: "granted" }, { kind: "fenced" }]);
  expect(await reservedIn(limit)).toBe(700);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a takeover while the former owner waits for the limit's lock rejects the former owner", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const former = await startRun(agent);
  const reservations = createReservations();
  await reservations.reserve(asking(former, 300), signal);
  const client = await engine.connect();
  await client.query("begin");
  await client.query("select from budgets where id = $1 for update", [limit]);
  const late = reservations.reserve(asking(former, 100), signal);
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const blocked = async () => {
    const found = await engine.query(
      "select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))",
      [rows[0]?.pid],
    );
    return found.rows.length;
  };
  await expect.poll(blocked).toBe(1);
  await takeOver(former);
  await client.query("commit");
  client.release();
  expect(await late).toEqual({ kind: "fenced" });
  // The new owner may still report a lost call of the former owner, so nothing is returned yet.
  expect(await reservedIn(limit)).toBe(300);
});

test("a run whose former owner asks too keeps its position among the runs that wait", async () => {
  const agent = await seedAgent(database);
  await addLimit(agent);
  const former = await startRun(agent);
  const present = await takeOver(former);
  const [large, small] = [await startRun(agent), await startRun(agent)];
  const kinds = async (...runs: AskingRun[]) =>
    (await reserveForRuns(database, reachedStatement, runs)).map(({ kind }) => kind);
  expect(await kinds(asking(large, 800))).toEqual(["granted"]);
  expect(await kinds(asking(present, 600))).toEqual(["waits"]);
  await engine.query("delete from reservations where run_id = $1", [large.runId]);
  await engine.query("update budgets set reserved = 0 where workspace_id = $1", [
    agent.workspaceId,
  ]);
  // What the waiting run needs is free now, but it has not asked again yet.
  expect(await kinds(asking(former, 100), asking(small, 600))).toEqual(["fenced", "waits"]);
});

test("a run whose owner was declared dead keeps waiting for its limit until it is taken over", async () => {
  const agent = await seedAgent(database);
  const limit = await addLimit(agent);
  const [large, waiting] = [await startRun(agent), await startRun(agent)];
  const reserve = async (claim: Claim, cost: number) => {
    const [result] = await reserveForRuns(database, reachedStatement, [asking(claim, cost)]);
    return result?.kind;
  };
  expect(await reserve(large, 800)).toBe("granted");
  expect(await reserve(waiting, 600)).toBe("waits");
  await declareDead(waiting);
  // The amount that the run needs is free now.
  expect(await reserve(large, 100)).toBe("granted");
  expect(await reserve(waiting, 600)).toBe("fenced");
  expect(await readWasWaiting(database, waiting)).toBe(true);
  expect(await reservedIn(limit)).toBe(100);
  expect(await reserve(await takeOver(waiting), 600)).toBe("granted");
});
