import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { startEmbedded } from "../../src/base/database/embedded/index.ts";
import { connect } from "../../src/base/database/index.ts";
import { createLog } from "../../src/base/log.ts";
import { openCaller } from "../crash/calls.ts";
import type { Fleet } from "../crash/fleet.ts";
import { install, maxAttempts, planned } from "../crash/installation.ts";
import { awaitEnds, readRuns, type StoredRun } from "../crash/journal.ts";
import { seeded } from "../crash/random.ts";
import { openWorld, type Plan, type World } from "../crash/world.ts";
import { eventually } from "../eventually.ts";

/**
 * Executes many runs in a server process that is killed and replaced by a new one. In the first
 * part the test kills the process that executes all the runs, and then its replacement in the same
 * way. In the second part one of the runs kills each process that executes it. Run by script/soak
 * or with: node server/test/soak/lost-processes.ts
 */

const healthyRuns = 500;
const thinkMs = 8_000;
const maxWaitMs = 600_000;

/**
 * Executes runs in processes that are killed. Returns false if a guarantee of Beckon was broken.
 *
 * @param log receives a line of figures for each part, and each problem.
 */
export async function loseProcesses(log: (line: string) => void): Promise<boolean> {
  const killedTwice = await loseProcess({ timeoutSeconds: 60, killer: undefined, report: log });
  const killedByOne = await loseProcess({
    timeoutSeconds: 600,
    killer: planned({ steps: ["safe"], thinkMs: 1_000 }),
    report: log,
  });
  return killedTwice && killedByOne;
}

interface LossTest {
  readonly timeoutSeconds: number;
  /**
   * The run that kills each process that executes it. If undefined, no run kills a process: the
   * test kills the process that executes all the runs, and later the process that took them over.
   */
  readonly killer: Plan | undefined;
  readonly report: (line: string) => void;
}

async function loseProcess(options: LossTest): Promise<boolean> {
  const opened = new AsyncDisposableStack();
  try {
    return await runLossTest(options, opened);
  } finally {
    await opened.disposeAsync();
  }
}

async function runLossTest(
  { timeoutSeconds, killer, report }: LossTest,
  opened: AsyncDisposableStack,
): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-soak-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const log = createLog("silent");
  const embedded = await startEmbedded({
    dataDir,
    log,
    tcp: { password: randomBytes(16).toString("hex") },
  });
  opened.defer(async () => {
    await embedded.stop();
    if (embedded.elsewhere !== undefined)
      await rm(embedded.elsewhere, { recursive: true, force: true });
  });
  const database = connect({ url: embedded.url, poolSize: 4, role: undefined, log });
  opened.defer(() => database.close());
  const world = await openWorld();
  opened.defer(() => world.close());
  const installation = await install(world, embedded.url, 1, { timeout_seconds: timeoutSeconds });
  opened.defer(() => installation.close());

  const began = performance.now();
  const caller = openCaller(installation, seeded(1));
  const healthy = Array.from({ length: healthyRuns }, (_, index) =>
    planned({ steps: index % 10 === 0 ? ["unsafe"] : [], thinkMs }),
  );
  if (killer !== undefined) world.order(killer.nonce, () => ({ order: "kill" }));
  const plans =
    killer === undefined
      ? healthy
      : [...healthy.slice(0, healthyRuns / 2), killer, ...healthy.slice(healthyRuns / 2)];
  await Promise.all(plans.map((plan) => caller.send({ plan, source: "fire", keyed: true })));
  if (killer === undefined) await killTwice(installation.fleet, database.engine);
  await awaitEnds(database.engine, maxWaitMs);

  const runs = await readRuns(database.engine);
  const broken = [...wrongWith(runs, { plans, world, killer }), ...installation.fleet.errors];
  for (const line of broken.slice(0, 20)) report(`✗ lost processes: ${line}`);
  const count = (status: string) => runs.filter((run) => run.status === status).length;
  const deaths = killer === undefined ? 2 : deathsOf(killer, world);
  report(
    [
      `lost processes: ${runs.length} runs of ${thinkMs / 1_000} s within ${timeoutSeconds} s`,
      killer === undefined ? "killed twice" : `${deaths} deaths by one run`,
      `${count("succeeded")} succeeded, ${count("failed")} failed`,
      `${((performance.now() - began) / 1_000).toFixed(0)} s`,
      `${broken.length} promises broken`,
    ].join(", "),
  );
  return broken.length === 0;
}

/** Kills the server as soon as it executes all runs, and then the next one in the same way. */
async function killTwice(fleet: Fleet, pool: Pool): Promise<void> {
  for (const attempt of [1, 2]) {
    const inFlight = async () => {
      const { rows } = await pool.query(
        "select from runs where finished_at is null and (status = 'queued' or attempt <> $1) limit 1",
        [attempt],
      );
      return rows.length === 0 || undefined;
    };
    await eventually(`attempt ${attempt} of all runs`, inFlight, maxWaitMs);
    await (await fleet.kill(0, { notify: true })).restarted;
  }
}

const deathsOf = ({ nonce }: Plan, { effects }: Pick<World, "effects">) =>
  new Set(effects.filter((effect) => effect.nonce === nonce).map(({ pid }) => pid)).size;

/**
 * The maximum number of processes that one run can kill. It kills one process in each attempt
 * before its last. In the last attempt, its process executes up to 64 such runs at once. After each
 * kill, the next process executes at most half as many. When the run is alone, it kills one more
 * process and ends (docs/decisions/0015-last-attempts-in-halves.md).
 */
const maxDeaths = maxAttempts - 1 + Math.log2(64) + 1;

/**
 * Returns a line for each violation of these rules: each plan has one run, all runs except the
 * killer succeed, the killer kills at most `maxDeaths` processes and then fails, and no unsafe call
 * is made twice.
 */
export function wrongWith(
  runs: readonly Pick<StoredRun, "id" | "status" | "error_code" | "attempt" | "payload">[],
  {
    plans,
    world,
    killer,
  }: {
    readonly plans: readonly Plan[];
    readonly world: Pick<World, "effects">;
    readonly killer: Plan | undefined;
  },
): string[] {
  const wrong: string[] = [];
  const byPlan = Map.groupBy(runs, ({ payload }) => payload);
  for (const plan of plans) {
    const count = byPlan.get(JSON.stringify(plan))?.length ?? 0;
    if (count !== 1) wrong.push(`${plan.nonce} has ${count} runs`);
  }
  for (const run of runs) {
    const guilty = killer !== undefined && run.payload === JSON.stringify(killer);
    const fine = guilty
      ? run.error_code === "interrupted" && run.attempt === maxAttempts
      : run.status === "succeeded";
    if (!fine)
      wrong.push(
        `${run.id} is ${run.status} with ${run.error_code} at attempt ${run.attempt}${guilty ? ", and kills" : ""}`,
      );
  }
  if (killer !== undefined && deathsOf(killer, world) > maxDeaths)
    wrong.push("one run killed too many processes");
  const unsafe = world.effects
    .filter(({ tool }) => tool === "unsafe_effect")
    .map(({ nonce, call }) => `${nonce} ${call}`);
  if (new Set(unsafe).size < unsafe.length) wrong.push("an unsafe call was made twice");
  return wrong;
}

if (import.meta.main) process.exitCode = (await loseProcesses((line) => console.log(line))) ? 0 : 1;
