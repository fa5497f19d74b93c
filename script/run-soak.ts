import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkDashboard } from "../e2e/web/soak/check-dashboard.ts";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { connect, type Database } from "../server/src/base/database/index.ts";
import { exitCodes } from "../server/src/base/exit-codes.ts";
import { createLog } from "../server/src/base/log.ts";
import {
  describeDeliveries,
  killAroundDeliveries,
} from "../server/test/crash/kill-around-deliveries.ts";
import { describeRequests, killAroundRequests } from "../server/test/crash/kill-around-requests.ts";
import { killAroundSteps } from "../server/test/crash/kill-around-steps.ts";
import { maxLostPercent } from "../server/test/crash/max-lost-percent.ts";
import { faultsOf, storm, summary } from "../server/test/crash/storm.ts";
import { startGuard } from "../server/test/guard.ts";
import { fillDisk } from "../server/test/soak/disk-full.ts";
import { loseProcesses } from "../server/test/soak/lost-processes.ts";
import { fillMemory } from "../server/test/soak/memory.ts";
import { overloadServer } from "../server/test/soak/overload.ts";
import { failOver } from "../server/test/soak/patroni/failover.ts";
import { pruneUnderLoad } from "../server/test/soak/retention/prune-under-load.ts";
import { stayFlat } from "../server/test/soak/retention/stay-flat.ts";

/**
 * Runs the long tests that the arguments name; without arguments, all except those in `onlyNamed`.
 * `script/soak --help` describes the tests and their environment variables.
 */

type Embedded = Awaited<ReturnType<typeof startEmbedded>>;

const log = (line: string) => console.log(line);
const tests: Readonly<Record<string, () => Promise<boolean>>> = {
  crash: crashOften,
  money: killOftenAroundSteps,
  deliveries: killOftenAroundDeliveries,
  requests: killOftenAroundRequests,
  disk: () => fillDisk(log),
  processes: () => loseProcesses(log),
  memory: () => fillMemory(log),
  dashboard: () => checkDashboard(log),
  overload: () => overloadServer(log),
  retention: deleteOldRuns,
  failover: () => failOver(log, number("FAILOVERS", 3)),
};
/** Tests that take an hour, or install packages on the machine. They run only if they are named. */
const onlyNamed = ["retention", "failover"];
const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(tests, name));
if (unknown.length > 0) {
  console.error(
    `There is no long test ${unknown.join(", ")}. The tests are ${Object.keys(tests).join(", ")}.`,
  );
  process.exit(exitCodes.usage);
}
for (const [name, test] of Object.entries(tests)) {
  if (named.length === 0 ? onlyNamed.includes(name) : !named.includes(name)) continue;
  if (!(await test())) process.exitCode = 1;
}

/**
 * Returns the number in an environment variable.
 * @throws Error if it is not a number: a test of `NaN` kills would do nothing, and pass
 */
function number(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined) return fallback;
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`${name} is "${text}". It must be a number.`);
  return Number(text);
}

/** Returns the seed of the random choices, and prints it. */
function printedSeed(): number {
  const seed = number("CRASH_SEED", Math.floor(Math.random() * 2 ** 31));
  log(`CRASH_SEED=${seed}`);
  return seed;
}

/**
 * Kills servers and PostgreSQL under load. If no acknowledged run was lost and no other violation
 * was found, prints an upper bound of the share of runs that Beckon loses.
 */
function crashOften(): Promise<boolean> {
  const seed = printedSeed();
  return withDatabase(async (embedded, database) => {
    /** Kills the postmaster with SIGKILL and waits until the next postmaster accepts queries. */
    async function killDatabase(): Promise<void> {
      const killed = embedded.pid;
      process.kill(killed, "SIGKILL");
      for (
        const deadline = performance.now() + 60_000;
        performance.now() < deadline;
        await delay(100)
      ) {
        // Backends of the killed postmaster can accept queries for a moment longer.
        if (embedded.pid !== killed && (await isReachable())) return;
      }
      throw new Error("PostgreSQL did not restart within 60 seconds");
    }

    const isReachable = () =>
      database.engine.query("select 1").then(
        () => true,
        () => false,
      );

    const report = await storm({
      seed,
      databaseUrl: embedded.url,
      pool: database.engine,
      killDatabase,
      servers: 2,
      acknowledged: number("CRASH_ACKNOWLEDGED", 10_000),
      faults: faultsOf(number("CRASH_FAULTS", 60)),
      callers: 16,
      log,
    });
    for (const line of report.broken.slice(0, 50)) log(`✗ ${line}`);
    log(`soak: ${summary(seed, report)}`);
    const isKept = report.broken.length === 0;
    const bound = maxLostPercent(report.figures.acknowledged);
    if (isKept) log(`with 95 % confidence less than ${bound} % of the runs are lost`);
    return isKept && report.figures.unfaultedFailures <= 0.05;
  });
}

/**
 * Kills servers a few milliseconds after a model has answered, which is when they write the step.
 * The usage ledger must contain the usage that the model server reported.
 */
function killOftenAroundSteps(): Promise<boolean> {
  const seed = printedSeed();
  const kills = number("MONEY_KILLS", 500);
  return withDatabase(async ({ url }, database) => {
    const report = await killAroundSteps({ seed, kills, databaseUrl: url, database, log });
    for (const line of report.broken.slice(0, 50)) log(`✗ ${line}`);
    log(
      `soak: money, seed ${seed}: ${kills} kills, ${report.answered} calls answered, ` +
        `${report.failed} failed, ${report.lost} lost and estimated; ` +
        `${report.broken.length} violations`,
    );
    return report.broken.length === 0 && report.lost > 0;
  });
}

/** Kills servers while events are delivered. Each event must arrive at least once. */
function killOftenAroundDeliveries(): Promise<boolean> {
  const seed = printedSeed();
  const kills = number("DELIVERY_KILLS", 30);
  const events = number("DELIVERY_EVENTS", 10_000);
  return withDatabase(async ({ url }, database) => {
    const options = { seed, kills, events, databaseUrl: url, pool: database.engine, log };
    const report = await killAroundDeliveries(options);
    for (const line of report.broken.slice(0, 50)) log(`✗ ${line}`);
    log(
      `soak: deliveries, seed ${seed}: ${kills} kills, ${describeDeliveries(report)}; ` +
        `${report.broken.length} violations`,
    );
    return report.broken.length === 0;
  });
}

function killOftenAroundRequests(): Promise<boolean> {
  const seed = printedSeed();
  const kills = number("REQUEST_KILLS", 3_000);
  return withDatabase(async ({ url }, database) => {
    const options = { seed, kills, servers: 4, databaseUrl: url, pool: database.engine, log };
    const report = await killAroundRequests(options);
    for (const line of report.broken.slice(0, 50)) log(`✗ ${line}`);
    log(
      `soak: requests, seed ${seed}: ${kills} kills, ${describeRequests(report)}; ` +
        `${report.broken.length} violations`,
    );
    return report.broken.length === 0;
  });
}

/**
 * Runs two tests of the deletion of old runs while a server executes 50 runs a second: the deletion
 * must cost little CPU time, and memory, tables and open files must not grow.
 */
async function deleteOldRuns(): Promise<boolean> {
  const runs = number("RETENTION_RUNS", 1_000_000);
  const phaseSeconds = number("RETENTION_SECONDS", 90);
  const minutes = number("RETENTION_MINUTES", 60);
  const isCheap = runs === 0 || (await pruneUnderLoad(log, { runs, pairs: 4, phaseSeconds }));
  const isFlat = minutes === 0 || (await stayFlat(log, { minutes }));
  return isCheap && isFlat;
}

/** Runs a test with a PostgreSQL of its own. */
async function withDatabase(
  test: (embedded: Embedded, database: Database) => Promise<boolean>,
): Promise<boolean> {
  const guard = startGuard();
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-soak-"));
  guard.watch(dataDir);
  const embedded = await startEmbedded({
    dataDir,
    log: createLog("silent"),
    tcp: { password: randomBytes(16).toString("hex") },
  });
  if (embedded.elsewhere !== undefined) guard.watch(embedded.elsewhere);
  const database = connect({
    url: embedded.url,
    poolSize: 4,
    role: undefined,
    log: createLog("silent"),
  });
  try {
    return await test(embedded, database);
  } finally {
    await database.close();
    await embedded.stop();
    // Waiting for the guard does not keep the process alive, so this timer does.
    const keepAlive = setInterval(() => {}, 1_000);
    await guard.release();
    clearInterval(keepAlive);
  }
}
