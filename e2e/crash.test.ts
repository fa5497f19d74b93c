import { expect, it } from "vitest";
import { faults } from "../server/test/crash/chaos.ts";
import { crashSeed as seed } from "../server/test/crash/random.ts";
import { storm, summary } from "../server/test/crash/storm.ts";
import { testDatabase } from "../server/test/database.ts";

const { url, database } = await testDatabase();
console.log(`CRASH_SEED=${seed}`);

it("loses no acknowledged run, finishes none twice and repeats no unsafe effect when processes are killed", async () => {
  const kinds = faults.filter((fault) => fault !== "database");
  const report = await storm({
    seed,
    databaseUrl: url,
    pool: database.engine,
    servers: 2,
    acknowledged: 500,
    faults: [
      ...kinds,
      "at a random moment",
      "at a random moment",
      "while the model was held",
      "with an effect done and unreported",
    ],
    callers: 12,
  });
  console.log(summary(seed, report));

  expect(report.broken.slice(0, 20)).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(10);
  expect(report.figures.acknowledged).toBeGreaterThanOrEqual(500);
  expect(report.figures.unfaultedFailures).toBeLessThanOrEqual(0.05);
  // The faults caused failovers and repeated requests. Without them the test would prove nothing.
  expect(report.figures.takenOver).toBeGreaterThan(0);
  expect(report.figures.replayed).toBeGreaterThan(0);
}, 240_000);
