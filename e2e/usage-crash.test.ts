import { expect, it } from "vitest";
import { killAroundSteps, runsPerKill } from "../server/test/crash/kill-around-steps.ts";
import { crashSeed as seed } from "../server/test/crash/random.ts";
import { testDatabase } from "../server/test/database.ts";

const { url, database } = await testDatabase();
console.log(`CRASH_SEED=${seed}`);

const kills = 30;

it("bills no answer twice, estimates those that were cut off, and returns what was reserved, when processes are killed around the write of a step", async () => {
  const { broken, answered, failed, lost, reservedAtKills } = await killAroundSteps({
    seed,
    kills,
    databaseUrl: url,
    database,
  });
  console.log(`${kills} kills: ${answered} calls answered, ${failed} failed, ${lost} lost`);
  expect(broken.slice(0, 20)).toEqual([]);
  expect(answered).toBeGreaterThanOrEqual(2 * kills * runsPerKill);
  // Some calls were in progress at the kills. Without them the test would prove nothing.
  expect(lost).toBeGreaterThan(0);
  expect(reservedAtKills).toBeGreaterThan(0);
}, 300_000);
