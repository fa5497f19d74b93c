import { randomBytes } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { connect } from "../server/src/base/database/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { faultsOf, storm, summary } from "../server/test/crash/storm.ts";
import { startGuard } from "../server/test/guard.ts";
import { fillDisk } from "../server/test/soak/disk-full.ts";
import { loseProcesses } from "../server/test/soak/lost-processes.ts";
import { fillMemory } from "../server/test/soak/memory.ts";

/**
 * The long proof: as e2e/crash.test.ts, with more of everything, and PostgreSQL killed as well; then a full disk,
 * processes lost under 500 runs, and a workspace that fills the memory. Prints a line of figures for each. The bound is
 * the rule of three: what did not happen in n tries happens in less than 3/n of them, with 95 % confidence.
 *
 *   CRASH_SEED            repeats what was chosen
 *   CRASH_ACKNOWLEDGED    10000
 *   CRASH_FAULTS          60: at least 50 of them kill
 */
const number = (name: string, fallback: number) => Number(process.env[name] ?? fallback);
const seed = number("CRASH_SEED", Math.floor(Math.random() * 2 ** 31));
console.log(`CRASH_SEED=${seed}`);

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

/** kill -9 of the postmaster; resolves when another one answers, which the embedding has started. */
async function killDatabase(): Promise<void> {
  const killed = embedded.pid;
  process.kill(killed, "SIGKILL");
  for (
    const deadline = performance.now() + 60_000;
    performance.now() < deadline;
    await delay(100)
  ) {
    // The killed one's sessions go on for a moment.
    if (embedded.pid !== killed && (await answers())) return;
  }
  throw new Error("PostgreSQL did not come back");
}

const answers = () =>
  database.engine.query("select 1").then(
    () => true,
    () => false,
  );

try {
  const report = await storm({
    seed,
    databaseUrl: embedded.url,
    pool: database.engine,
    killDatabase,
    servers: 2,
    acknowledged: number("CRASH_ACKNOWLEDGED", 10_000),
    faults: faultsOf(number("CRASH_FAULTS", 60)),
    callers: 16,
    log: (line) => console.log(line),
  });
  for (const line of report.broken.slice(0, 50)) console.log(`✗ ${line}`);
  const bound = ((3 / report.figures.acknowledged) * 100).toFixed(3);
  console.log(`soak: ${summary(seed, report)}; with 95 % confidence less than ${bound} % are lost`);
  const diskHeld = await fillDisk((line) => console.log(line));
  const noRunPaid = await loseProcesses((line) => console.log(line));
  const memoryHeld = await fillMemory((line) => console.log(line));
  const held = diskHeld && noRunPaid && memoryHeld;
  process.exitCode =
    report.broken.length === 0 && report.figures.unfaultedFailures <= 0.05 && held ? 0 : 1;
} finally {
  await database.close();
  await embedded.stop();
  // The guard itself keeps no process from ending.
  const waiting = setInterval(() => {}, 1_000);
  await guard.release();
  clearInterval(waiting);
}
