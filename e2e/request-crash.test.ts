import { expect, it } from "vitest";
import { describeRequests, killAroundRequests } from "../server/test/crash/kill-around-requests.ts";
import { crashSeed as seed } from "../server/test/crash/random.ts";
import { testDatabase } from "../server/test/database.ts";

const { url, database } = await testDatabase();
console.log(`CRASH_SEED=${seed}`);

const kills = 30;

it("starts one run for each event when processes are killed under duplicates", async () => {
  const report = await killAroundRequests({
    seed,
    kills,
    databaseUrl: url,
    pool: database.engine,
  });
  console.log(`${kills} kills: ${describeRequests(report)}`);
  expect(report.broken.slice(0, 20)).toEqual([]);
  // If no request was repeated, no kill occurred during a request, and the test proved nothing.
  expect(report.repeated).toBeGreaterThan(0);
}, 300_000);
