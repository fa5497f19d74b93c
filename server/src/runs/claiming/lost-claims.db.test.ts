import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { elapsed } from "../../base/clock.ts";
import { newId } from "../../base/ids.ts";
import { ShortLivedMap } from "../../base/short-lived-map.ts";
import { OwnProcess } from "../../processes/index.ts";
import { Capacity, type OwnedRun } from "../executing/index.ts";
import { createUnconfirmedStarts } from "../starting/index.ts";
import type { LiveRun } from "../subscribing/index.ts";
import { executeLostClaims } from "./claim.ts";
import { claimQueued } from "./claim-statement.ts";

const { database } = await testDatabase();

test("a claim whose commit waited for a standby longer than any statement is executed when it appears", async () => {
  const process = new OwnProcess(await seedProcess(database));
  const claim = { owner: process.id, eventIds: [newId("evt")], until: elapsed() };
  const executed: string[] = [];
  const ports = {
    database,
    process,
    live: new ShortLivedMap<LiveRun>(),
    unconfirmedClaims: new Set([claim]),
    unconfirmedStarts: createUnconfirmedStarts(),
    capacity: new Capacity({ max: 1, executes: true, heap: { isFull: false } }),
    reservations: { noteLimited() {} },
    worker: { takeOver() {} },
    execute: async ({ runId }: OwnedRun) => void executed.push(runId),
  };
  const run = await startOne(database, await seedAgent(database));
  await executeLostClaims(ports);
  expect(executed).toEqual([]);

  // The claim becomes visible only now, as if its commit had waited until now.
  await claimQueued(database, claim);
  await executeLostClaims(ports);
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
