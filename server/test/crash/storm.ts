import { setTimeout as delay } from "node:timers/promises";
import { openCaller } from "./calls.ts";
import { type Chaos, type Fault, faults, injectFault } from "./chaos.ts";
import { type CheckReport, checkGuarantees } from "./check-guarantees.ts";
import { checkUsage } from "./check-usage.ts";
import { install, planned } from "./installation.ts";
import { awaitEnds, readRuns } from "./journal.ts";
import { type Random, seeded } from "./random.ts";
import { openWorld } from "./world.ts";

/** Load, faults and seed of one storm. */
export interface StormOptions extends Pick<Chaos, "pool" | "killDatabase"> {
  readonly seed: number;
  readonly databaseUrl: string;
  readonly servers: number;
  /** Minimum number of acknowledged runs. */
  readonly acknowledged: number;
  /** Faults to inject, in an order that depends on the seed. */
  readonly faults: readonly Fault[];
  /** Concurrent callers. */
  readonly callers: number;
  /** Called with progress lines. Default: they are dropped. */
  readonly log?: (line: string) => void;
}

export interface StormReport extends CheckReport {
  /** Number of server processes that were killed. Kills of PostgreSQL and stops are not counted. */
  readonly kills: number;
  readonly seconds: number;
}

/**
 * Maximum wait for the remaining runs after the load. Some runs are resumed only when a lease has
 * expired. Others are in their last attempt: after each kill, Beckon executes only half as many of
 * these at the same time (docs/decisions/0015-last-attempts-in-halves.md).
 */
const maxRemainderMs = 120_000;

/**
 * Sends requests and injects faults until `options.acknowledged` runs are acknowledged and all
 * faults are injected. Then checks the database.
 */
export async function storm(options: StormOptions): Promise<StormReport> {
  const began = performance.now();
  const random = seeded(options.seed);
  const world = await openWorld();
  const installation = await install(world, options.databaseUrl, options.servers);
  try {
    const caller = openCaller(installation, seeded(random.below(2 ** 31)));
    const chaos: Chaos = { ...options, world, installation, caller, random };
    let isInjecting = true;
    let isOver = false;
    let kills = 0;

    const callers = Array.from({ length: options.callers }, async (_, index) => {
      const own = seeded(options.seed + index);
      while (!isOver && (isInjecting || caller.acknowledged < options.acknowledged))
        await caller.send(anyCall(own));
    });
    const injectFaults = async () => {
      for (const fault of random.shuffled(options.faults)) {
        await delay(random.below(800));
        kills += await injectFault(fault, chaos);
        options.log?.(
          `${((performance.now() - began) / 1_000).toFixed(1)} s: ${fault}; ${caller.acknowledged} acknowledged, ${kills} kills`,
        );
      }
    };
    // Sets `isOver` even if injecting a fault fails. Otherwise the callers would continue for ever,
    // because no run is acknowledged without servers.
    await Promise.all([...callers, injectFaults().finally(() => (isInjecting = false))]).finally(
      () => (isOver = true),
    );

    const unendedCount = await awaitEnds(options.pool, maxRemainderMs);
    const verdict = checkGuarantees(await readRuns(options.pool), caller.calls, world);
    const usage = await checkUsage(options.pool, world);
    const errors = installation.fleet.errors.map((line) => `a server said: ${line}`);
    const unended = unendedCount === 0 ? [] : [`${unendedCount} runs have not ended`];
    return {
      ...verdict,
      broken: [...unended, ...verdict.broken, ...usage.broken, ...errors],
      kills,
      seconds: (performance.now() - began) / 1_000,
    };
  } finally {
    await installation.close();
    await world.close();
  }
}

function anyCall(random: Random) {
  return {
    source: random.pick(["invoke", "invoke", "fire", "fire", "async"] as const),
    keyed: random.chance(0.5),
    plan: planned({
      steps: random.pick([[], [], ["safe"], ["unsafe"], ["both"], ["safe", "unsafe"]]),
      thinkMs: random.below(120),
      failures: random.chance(0.03) ? 1 : 0,
    }),
  };
}

/** Returns the report as one line. */
export function summary(seed: number, report: StormReport): string {
  const { figures: f } = report;
  return [
    `seed ${seed}`,
    `${report.seconds.toFixed(0)} s`,
    `${f.acknowledged} acknowledged of ${f.runs} runs`,
    `${report.kills} server processes killed`,
    `${f.takenOver} taken over`,
    `${f.interrupted} interrupted`,
    `${f.replayed} answered to a repeat`,
    `${f.modelCalls} model calls = ${f.answered} answered + ${f.failed} failed + up to ${f.lost} lost`,
    `${f.unsafeEffects} unsafe effects, ${f.unknown} outcomes unknown`,
    `${f.safeEffects} safe effects, ${f.repeated} repeated with their key`,
    `${(100 * (1 - f.unfaultedFailures)).toFixed(2)} % of ${f.unfaulted} unfaulted requests succeeded`,
    `${report.broken.length} promises broken`,
  ].join(", ");
}

/** Returns a list of `count` faults, which repeats `kinds` in their order. */
export function faultsOf(count: number, kinds: readonly Fault[] = faults): Fault[] {
  return Array.from(
    { length: count },
    (_, index) => kinds[index % kinds.length] ?? "at a random moment",
  );
}
