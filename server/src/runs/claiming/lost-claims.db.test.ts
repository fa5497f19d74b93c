import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { appendRow, seedAgent, seedProcess, startOne, succeeded } from "../../../test/tenant.ts";
import { elapsed } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { OwnProcess } from "../../processes/index.ts";
import { Capacity, type OwnedRun } from "../executing/index.ts";
import { appendToRuns } from "../journal/append-statement.ts";
import { createUnconfirmedStarts } from "../starting/index.ts";
import { executeLostClaims } from "./claim.ts";
import { claimQueued } from "./claim-statement.ts";

const { database } = await testDatabase();

/**
 * Returns a claim of one run whose reply was lost, and the services that execute it. `executed` are
 * the ids of the executed runs.
 */
async function loseClaim() {
  const process = new OwnProcess(await seedProcess(database));
  const claim = {
    owner: process.id,
    eventIds: [newId("evt")],
    executed: new Set<string>(),
    until: elapsed(),
  };
  const executed: string[] = [];
  const ports = {
    database,
    process,
    unconfirmedClaims: new Set([claim]),
    unconfirmedStarts: createUnconfirmedStarts(),
    capacity: new Capacity({ max: 1, executes: true, heap: { isFull: false } }),
    reservations: { noteLimited() {} },
    worker: { takeOver() {} },
    execute: async ({ runId }: OwnedRun) => void executed.push(runId),
  };
  return { claim, ports, executed };
}

test("a claim whose commit waited for a standby longer than any statement is executed when it appears", async () => {
  const { claim, ports, executed } = await loseClaim();
  const run = await startOne(database, await seedAgent(database));
  await executeLostClaims(ports);
  expect(executed).toEqual([]);

  // The claim becomes visible only now, as if its commit had waited until now.
  await claimQueued(database, claim);
  await executeLostClaims(ports);
  expect(executed).toEqual([run.runId]);
});

test("a run of a lost claim that ends while the claim is searched for again is executed once", async () => {
  const { claim, ports, executed } = await loseClaim();
  const run = await startOne(database, await seedAgent(database));
  await claimQueued(database, claim);
  await executeLostClaims(ports);

  // Delays the reply to the search until the run has ended.
  const query = async (search: { text: string; values: unknown[] }) => {
    const reply = await database.engine.query(search);
    const end = appendRow(run, claim.owner, { lastSeq: 2, end: succeeded });
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

test("claims are settled after two renewals of the lease that began later", async () => {
  const process = new OwnProcess(await seedProcess(database));
  const settled = (sentAt: number) => {
    process.recordRenewal(sentAt);
    return process.hasSettled(10);
  };
  expect([9, 11, 12].map(settled)).toEqual([false, false, true]);
});
