import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { connect } from "../../../src/base/database/index.ts";
import { createLog } from "../../../src/base/log.ts";
import { readConfig } from "../../../src/config.ts";
import { oldRuns } from "../../../src/retention/runs-store.ts";
import { type Installation, install } from "./installation.ts";
import { type SteadyLoad, startLoad } from "./steady-load.ts";
import { storeOldRuns, tablesOfRuns } from "./store-old-runs.ts";

/**
 * Measures how much more CPU a server and its PostgreSQL use while old runs are deleted. Only CPU
 * time counts, because other programs can use the machine at the same time.
 */

const perSecond = 50;
const maxShare = 0.1;
const warmUpSeconds = 30;
const dayMs = 24 * 3_600_000;
/** Maximum runs that one statement deletes in `measureVacuum`. */
const batchRows = 500;
/**
 * Share of a table's rows that must be deleted before PostgreSQL vacuums the table by itself. This
 * is its default (`autovacuum_vacuum_scale_factor`).
 */
const vacuumedShare = 0.2;

const { retention } = readConfig({});

/** One part of the measurement. */
interface Phase {
  readonly requests: number;
  readonly seconds: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly pruned: number;
  readonly created: number;
}

/**
 * Measures the CPU time per request without pruning and with it. Returns false if a request failed,
 * if pruning adds more than `maxShare` to the CPU time, or if it deletes fewer than two runs for
 * each run that is created in the same time.
 *
 * @param runs number of old runs, a multiple of 1,000.
 * @param pairs number of pairs of phases: one phase without pruning, and one with it.
 * @param phaseSeconds seconds of each phase.
 */
export async function pruneUnderLoad(
  log: (line: string) => void,
  { runs, pairs, phaseSeconds }: { runs: number; pairs: number; phaseSeconds: number },
): Promise<boolean> {
  const opened = new AsyncDisposableStack();
  try {
    const pruning = { firstMs: 0, everyMs: 200, intervalSeconds: 0 };
    const installation = await install(opened, { retention, pruning });
    const { engine, agent, port } = installation;
    const dispatcher = new Agent({ connections: 200, keepAliveTimeout: 60_000 });
    opened.defer(() => dispatcher.destroy());
    const invoke = async (): Promise<string> => {
      const response = await request(
        `http://127.0.0.1:${port}/api/public/agents/${agent.id}/invoke`,
        {
          method: "POST",
          dispatcher,
          headers: { "x-api-key": agent.token, "content-type": "application/json" },
          body: JSON.stringify({ input: "What is the state of order 4711?" }),
        },
      );
      const text = await response.body.text();
      if (response.statusCode !== 200) throw new Error(`${response.statusCode}: ${text}`);
      return (JSON.parse(text) as { run_id: string }).run_id;
    };
    await pause(installation);
    const now = Date.now();
    await storeOldRuns(engine, await invoke(), {
      count: runs,
      from: new Date(now - 90 * dayMs),
      to: new Date(now - 31 * dayMs),
    });
    log(`retention: ${runs} old runs are stored`);

    const load = startLoad(perSecond, async () => {
      await invoke();
    });
    await delay(warmUpSeconds * 1_000);
    const without: Phase[] = [];
    const withPruning: Phase[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      // The order alternates, so that a change in the machine's speed affects the phases without
      // pruning as much as those with it.
      for (const prunes of pair % 2 === 0 ? [false, true] : [true, false]) {
        const phase = await measurePhase(installation, load, { prunes, seconds: phaseSeconds });
        (prunes ? withPruning : without).push(phase);
        log(`retention: ${prunes ? "pruning" : "no pruning"}: ${describe(phase)}`);
      }
    }
    await load.stop();
    const vacuum = await measureVacuum(installation, Math.floor(runs * vacuumedShare));

    const [alone, both] = [sum(without), sum(withPruning)];
    const prunedPerSecond = both.pruned / both.seconds;
    const vacuumCpu = (vacuum.cpuPerRun * both.pruned) / both.requests;
    const cost = (phase: Phase) => (phase.serverCpu + phase.databaseCpu) / phase.requests;
    const share = (cost(both) + vacuumCpu) / cost(alone) - 1;
    const broken = [...new Set(load.failures)].slice(0, 10);
    broken.push(...wrongWithShare(share));
    if (both.pruned < 2 * both.created)
      broken.push(`${both.pruned} runs deleted while ${both.created} were created`);
    for (const line of broken) log(`✗ retention: ${line}`);
    log(
      `soak: retention, CPU: ${runs} old runs, ${(alone.requests / alone.seconds).toFixed(1)} requests/s; ` +
        `${ms(cost(alone))} ms of CPU per request without pruning (server ${ms(alone.serverCpu / alone.requests)}, ` +
        `database ${ms(alone.databaseCpu / alone.requests)}), ${ms(cost(both))} ms while ` +
        `${prunedPerSecond.toFixed(0)} runs/s are deleted (server ${ms(both.serverCpu / both.requests)}, ` +
        `database ${ms(both.databaseCpu / both.requests)}), and ${ms(vacuumCpu)} ms for the vacuum of the deleted rows: ` +
        `${percent(share)} more; at full speed ${ms(vacuum.deletionPerRun)} ms per deleted run, ` +
        `vacuum ${ms(vacuum.cpuPerRun)} ms; ${broken.length} promises broken`,
    );
    return broken.length === 0;
  } finally {
    await opened.disposeAsync();
  }
}

/**
 * Returns a line for the log if the share of CPU that pruning adds is too large, or could not be
 * measured. The share is then NaN or Infinity: no request succeeded, or `measureVacuum` found no
 * old run to delete.
 */
export function wrongWithShare(share: number): string[] {
  return share <= maxShare ? [] : [`pruning needs ${percent(share)} more CPU`];
}

/** Stops the current pass of the pruning, and lets no pass begin. */
async function pause({ engine }: Installation): Promise<void> {
  await engine.query("update installation set pruning_process = null, pruned_at = 'infinity'");
}

async function resume({ engine }: Installation): Promise<void> {
  await engine.query("update installation set pruned_at = null");
}

async function measurePhase(
  installation: Installation,
  load: SteadyLoad,
  { prunes, seconds }: { prunes: boolean; seconds: number },
): Promise<Phase> {
  // After a checkpoint, the first change of each page writes the whole page to the WAL. With a
  // checkpoint at the beginning of every phase, all phases have the same share of such writes.
  await installation.checkpoint();
  if (prunes) await resume(installation);
  await delay(1_000);
  const before = await readings();
  await delay(seconds * 1_000);
  const after = await readings();
  if (prunes) await pause(installation);
  return {
    requests: after.requests - before.requests,
    seconds: (after.at - before.at) / 1_000,
    serverCpu: after.server - before.server,
    databaseCpu: after.database - before.database,
    pruned: after.pruned - before.pruned,
    created: after.created - before.created,
  };

  async function readings() {
    const { rows } = await installation.engine.query<{ created: number; pruned: number }>(
      `select pg_stat_get_tuples_inserted('runs'::regclass)::float8 as created,
        pg_stat_get_tuples_deleted('runs'::regclass)::float8 as pruned`,
    );
    const { created, pruned } = rows[0] ?? { created: 0, pruned: 0 };
    return {
      at: performance.now(),
      requests: load.succeeded,
      ...installation.cpu(),
      created,
      pruned,
    };
  }
}

/**
 * Deletes `count` runs as fast as possible, and then vacuums their tables. Returns PostgreSQL's CPU
 * seconds per deleted run: `deletionPerRun` for the deletion, `cpuPerRun` for the vacuum. They are
 * NaN or Infinity if no run was deleted.
 */
async function measureVacuum(
  { engine, databaseUrl, cpu }: Installation,
  count: number,
): Promise<{ cpuPerRun: number; deletionPerRun: number }> {
  const tables = Object.keys(tablesOfRuns);
  for (const table of tables)
    await engine.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await engine.query(`vacuum ${tables.join(", ")}`);
  const database = connect({
    url: databaseUrl,
    poolSize: 4,
    role: undefined,
    log: createLog("warn"),
  });
  let deleted = 0;
  const began = cpu().database;
  try {
    const deleteSome = oldRuns(database.engine, retention, new Date());
    for (let hasMore = true; hasMore && deleted < count; ) {
      const batch = await deleteSome?.(batchRows);
      hasMore = batch?.hasMore ?? false;
      deleted += batch?.deleted.runs ?? 0;
    }
  } finally {
    await database.close();
  }
  const deletedAll = cpu().database;
  await engine.query(`vacuum ${tables.join(", ")}`);
  return {
    deletionPerRun: (deletedAll - began) / deleted,
    cpuPerRun: (cpu().database - deletedAll) / deleted,
  };
}

function sum(phases: readonly Phase[]): Phase {
  const total = (field: keyof Phase) => phases.reduce((all, phase) => all + phase[field], 0);
  return {
    requests: total("requests"),
    seconds: total("seconds"),
    serverCpu: total("serverCpu"),
    databaseCpu: total("databaseCpu"),
    pruned: total("pruned"),
    created: total("created"),
  };
}

function describe(phase: Phase): string {
  const { requests, seconds, serverCpu, databaseCpu, pruned } = phase;
  return (
    `${(requests / seconds).toFixed(1)} requests/s, CPU per request ${ms(serverCpu / requests)} ms ` +
    `in the server and ${ms(databaseCpu / requests)} ms in the database, ${(pruned / seconds).toFixed(0)} runs/s deleted`
  );
}

const ms = (seconds: number) => (seconds * 1_000).toFixed(3);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
