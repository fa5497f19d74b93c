import { expect, it } from "vitest";
import {
  describeDeliveries,
  killAroundDeliveries,
} from "../server/test/crash/kill-around-deliveries.ts";
import { crashSeed as seed } from "../server/test/crash/random.ts";
import { testDatabase } from "../server/test/database.ts";

const { url, database } = await testDatabase();
console.log(`CRASH_SEED=${seed}`);

const kills = 10;

it("delivers every event when processes are killed, and repeats only what these had sent", async () => {
  const report = await killAroundDeliveries({
    seed,
    kills,
    events: 300,
    databaseUrl: url,
    pool: database.engine,
  });
  console.log(`${kills} kills: ${describeDeliveries(report)}`);
  expect(report.broken.slice(0, 20)).toEqual([]);
  expect(report.events).toBeGreaterThanOrEqual(300);
}, 300_000);
