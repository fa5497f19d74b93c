import { expect, onTestFinished, test } from "vitest";
import { builtInPricer } from "../../../test/built-in-pricer.ts";
import { testDatabase } from "../../../test/database.ts";
import { executedStatements } from "../../../test/executed-statements.ts";
import { appendRow, seedAgent, seedProcess, startOne, succeeded } from "../../../test/tenant.ts";
import { appendToRuns } from "../../../test/write-runs.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import { elapsed } from "../../base/clock.ts";
import { connect } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { OwnProcess } from "../../processes/index.ts";
import { Capacity, type OwnedRun } from "../executing/index.ts";
import { createUnconfirmedStarts } from "../starting/index.ts";
import { createLiveRuns } from "../subscribing/index.ts";
import { claimRuns, executeLostClaims, type UnconfirmedClaim } from "./claim.ts";
import { claimQueued } from "./claim-statement.ts";
import { UnreadableRuns } from "./unreadable-runs.ts";

const { database } = await testDatabase();

/**
 * Returns the services of a process with `count` unconfirmed claims of up to one run each. The
 * claims are not sent: a test does this with `claimQueued`. `claim` is the first of them,
 * `executed` are the ids of the runs that the process has executed, `elapsedMs` are the times that
 * had elapsed of them, and `reported` are the calls of `noteWritten` and `resumed`.
 */
async function loseClaims(count: number) {
  const process = new OwnProcess(await seedProcess(database));
  const lose = (): UnconfirmedClaim => ({
    owner: process.id,
    eventIds: [newId("evt")],
    executed: new Set<string>(),
    until: elapsed(),
  });
  const claim = lose();
  const executed: string[] = [];
  const elapsedMs: number[] = [];
  const reported: string[] = [];
  const ports = {
    database,
    unreadable: new UnreadableRuns(createLog("silent")),
    process,
    live: createLiveRuns(),
    unconfirmedClaims: new Set([claim, ...Array.from({ length: count - 1 }, lose)]),
    unconfirmedStarts: createUnconfirmedStarts(),
    capacity: new Capacity({ max: 1, executes: true, heap: { isFull: false } }),
    memory: { runs: new ByteBudget({ maxBytes: 1 }) },
    reservations: {
      noteClaimed() {},
      waiting: () => new Map<string, number>(),
      blocked: () => [],
    },
    worker: { takeOver() {} },
    eventPoller: { noteWritten: () => void reported.push("written") },
    pricer: builtInPricer,
    onReturned() {},
    reports: { ended() {}, resumed: (runs: number) => void reported.push(`${runs} resumed`) },
    async execute(run: OwnedRun) {
      executed.push(run.runId);
      elapsedMs.push(run.elapsedMs);
    },
  };
  return { claim, ports, executed, elapsedMs, reported };
}

test("a claim whose commit waited for a standby longer than any statement is executed when it appears", async () => {
  const { claim, ports, executed } = await loseClaims(1);
  const run = await startOne(database, await seedAgent(database));
  await executeLostClaims(ports);
  expect(executed).toEqual([]);

  // The claim becomes visible only now, as if its commit had waited until now.
  await claimQueued(database, claim);
  await executeLostClaims(ports);
  expect(executed).toEqual([run.runId]);
});

test("a run of a lost claim that ends while the claim is searched for again is executed once", async () => {
  const { claim, ports, executed } = await loseClaims(1);
  const run = await startOne(database, await seedAgent(database));
  await claimQueued(database, claim);
  await executeLostClaims(ports);

  // Delays the reply to the search until the run has ended.
  const query = async (search: { text: string; values: unknown[] }) => {
    const reply = await database.engine.query(search);
    const end = appendRow(run, claim.owner, { lastSeq: 2, transition: succeeded });
    expect(await appendToRuns(database, [end])).toMatchObject([{ kind: "written" }]);
    expect(reply.rows).toMatchObject([{ run_id: run.runId }]);
    return reply;
  };
  const engine = new Proxy(database.engine, {
    get: (pool, name) => (name === "query" ? query : Reflect.get(pool, name)),
  });
  await executeLostClaims({ ...ports, database: { ...database, engine } });
  expect(executed).toEqual([run.runId]);
});

test("runs of a lost claim are reported like those of other claims", async () => {
  const { claim, ports, reported } = await loseClaims(1);
  const run = await startOne(database, await seedAgent(database));
  await database.engine.query(
    "update runs set status = 'queued', owner = null, fence = 1 where id = $1",
    [run.runId],
  );
  await claimQueued(database, claim);
  await executeLostClaims(ports);
  expect(reported).toEqual(["written", "1 resumed"]);
});

test("the time until a lost claim is found does not count against the run's time limit", async () => {
  const { claim, ports, elapsedMs } = await loseClaims(1);
  const run = await startOne(database, await seedAgent(database));
  await claimQueued(database, claim);
  // The run was first started 15 minutes ago, and claimed 10 minutes ago.
  await database.engine.query(
    "update runs set started_at = now() - interval '15 minutes' where id = $1",
    [run.runId],
  );
  await database.engine.query(
    "update events set time = now() - interval '10 minutes' where id = any ($1)",
    [claim.eventIds],
  );
  await executeLostClaims(ports);
  expect(elapsedMs.map((ms) => Math.round(ms / 60_000))).toEqual([5]);
});

test("all claims whose replies were lost are searched for with one statement", async () => {
  const { ports, executed } = await loseClaims(3);
  const agent = await seedAgent(database);
  const runIds: string[] = [];
  for (const claim of ports.unconfirmedClaims) {
    runIds.push((await startOne(database, agent)).runId);
    await claimQueued(database, claim);
  }
  const statements = await executedStatements(() => executeLostClaims(ports));
  expect(statements).toHaveLength(1);
  expect(executed.sort()).toEqual(runIds.sort());
});

test("an outage of the database leaves one unconfirmed claim, however long it lasts", async () => {
  const { ports, executed } = await loseClaims(1);
  ports.unconfirmedClaims.clear();
  const run = await startOne(database, await seedAgent(database));
  const unreachable = connect({
    url: "postgres://127.0.0.1:9/none",
    poolSize: 4,
    role: undefined,
    log: createLog("silent"),
  });
  onTestFinished(() => unreachable.close());
  for (const _ of [1, 2, 3])
    await expect(claimRuns({ ...ports, database: unreachable })).rejects.toThrow("ECONNREFUSED");
  expect(ports.unconfirmedClaims.size).toBe(1);

  await claimRuns(ports);
  expect(executed).toEqual([run.runId]);
});

test("a process with 50 unconfirmed claims claims nothing until they are over", async () => {
  const { claim, ports, executed } = await loseClaims(50);
  const run = await startOne(database, await seedAgent(database));
  await claimRuns(ports);
  expect([executed, ports.unconfirmedClaims.size]).toEqual([[], 50]);

  for (const _ of [1, 2]) ports.process.recordRenewal(claim.until + 1_000);
  await claimRuns(ports);
  expect([executed, ports.unconfirmedClaims.size]).toEqual([[run.runId], 0]);
});

test("claims are settled after two renewals of the lease that began later", async () => {
  const process = new OwnProcess(await seedProcess(database));
  const settled = (sentAt: number) => {
    process.recordRenewal(sentAt);
    return process.areCommitsVisible(10);
  };
  expect([9, 11, 12].map(settled)).toEqual([false, false, true]);
});
