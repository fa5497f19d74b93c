import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { serverFlags } from "../server/src/supervisor/keep-servers.ts";
import { median } from "./against/statistics.ts";
import { openApi } from "./api.ts";
import { type Case, casesNamed, measureCase, models, type Prepared, shapeOf } from "./cases.ts";
import { withCleanUp } from "./clean-up.ts";
import { type Measurement, measure, noRunsLeft, type Target } from "./measure.ts";
import { prepareAgent } from "./prepare-agent.ts";
import { cpuSeconds, residentMiB, run, type Started } from "./processes.ts";
import { startReceivers } from "./receivers/start-receivers.ts";
import { startModels } from "./start-models.ts";
import { storeRuns } from "./store-runs.ts";

/**
 * Measures Beckon against a baseline: a bare server that does only what every server must do
 * (`baseline.ts`). Everything runs on this machine, so only the ratios within one measurement are
 * meaningful.
 *
 *   script/bench                     the table
 *   script/bench --stored 1000000    the same with this many finished runs in the database
 *   script/bench --seconds 5         seconds that each line is measured in each round
 *   script/bench --only "64 conn"    only the lines with this text in their name; can be repeated
 *
 * The lines are measured in turn, in several rounds, so that a change in the machine's speed
 * affects all of them.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "8" },
    stored: { type: "string", default: "0" },
    only: { type: "string", multiple: true },
  },
});
const seconds = Number(values.seconds);
const rounds = 5;
/** Seconds of load before the measurement, so that V8 has compiled the hot code. */
const warmUpSeconds = 7;

interface Line extends Measurement {
  readonly name: string;
  readonly modelMs: number;
  /** Runs that finished in the measured time. */
  readonly completed: number;
  /** Requests per second of each round. */
  readonly rates: readonly number[];
}

await withCleanUp(async (opened) => {
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-bench-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const database = await startEmbedded({ dataDir, log: createLog("warn") });
  opened.defer(() => database.stop());
  const observer = new Client({ connectionString: database.url, options: "-c beckon.workspace=*" });
  await observer.connect();
  opened.defer(() => observer.end());

  const modelPorts = await startModels(opened);
  const receivers = await startReceivers(opened);
  const key = "bench-key-of-at-least-thirty-two-characters";
  const environment = {
    DATABASE_URL: database.url,
    BECKON_MASTER_KEY: "0".repeat(64),
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_EGRESS_ALLOW: [
      ...Object.values(modelPorts),
      ...Object.values(receivers).map(({ message }) => message.port),
    ]
      .map((port) => `127.0.0.1:${port}`)
      .join(","),
    PORT: "0",
    LOG_LEVEL: "warn",
  };
  const server = await run<{ port: number }>(opened, "beckon.ts", [], {
    env: environment,
    flags: serverFlags,
  });
  const idleMiB = residentMiB(server.pid);
  const api = openApi(server.message.port, key);
  const agents = {
    instant: await prepareAgent(api, "instant", modelPorts.instant),
    slow: await prepareAgent(api, "slow", modelPorts.slow),
  };
  if (Number(values.stored) > 0)
    await storeRuns(database.url, agents.instant.id, Number(values.stored));
  const bare = {
    instant: await run<{ port: number }>(opened, "baseline.ts", [
      database.url,
      String(modelPorts.instant),
    ]),
    slow: await run<{ port: number }>(opened, "baseline.ts", [
      database.url,
      String(modelPorts.slow),
    ]),
  };

  const target = ({ pid, message }: Started<{ port: number }>): Target => ({
    port: message.port,
    cpu: () => ({
      // Includes the server's child processes, which evaluate filters and templates.
      server: cpuSeconds(pid, { tree: true }),
      database: cpuSeconds(database.pid, { tree: true }),
    }),
    memoryMiB: () => residentMiB(pid),
    idle: () => noRunsLeft(api),
  });
  const prepared = (one: Case): Prepared => ({
    api,
    port: server.message.port,
    key,
    agent: agents[one.model],
    receivers,
  });

  const lines: { line: Line; against: Line }[] = [];
  const groups = Map.groupBy(
    casesNamed(values.only),
    ({ model, connections }) => `${model} ${connections}`,
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const shape = { ...shapeOf(first), path: "/", headers: {} };
    const measured = [
      {
        name: `(a) ${first.name.replace(/^\w+/, "baseline")}`,
        measure: (seconds: number) =>
          measure(opened, target(bare[first.model]), { ...shape, seconds }),
      },
      ...group.map((one, position) => ({
        name: `(${"bcdefghij"[position]}) ${one.name}`,
        measure: (seconds: number) =>
          measureCase(opened, one, { target: target(server), prepared: prepared(one), seconds }),
      })),
    ].map((one) => ({ ...one, lines: [] as Line[] }));
    for (const one of measured) await one.measure(warmUpSeconds);
    for (let round = 0; round < rounds; round++) {
      for (const one of measured) {
        const measurement = await one.measure(seconds);
        const rates = [measurement.requests / measurement.seconds];
        one.lines.push({
          ...measurement,
          name: one.name,
          modelMs: models[first.model].ms,
          completed: await completed(measurement),
          rates,
        });
      }
    }
    const [against, ...others] = measured.map((one) => combine(one.lines));
    if (against === undefined) continue;
    lines.push({ line: against, against }, ...others.map((line) => ({ line, against })));
  }
  print(lines, idleMiB);

  async function completed({ beganAt, endedAt }: Measurement): Promise<number> {
    const { rows } = await observer.query<{ runs: number }>(
      "select count(*)::int as runs from runs where finished_at >= $1 and finished_at < $2",
      [new Date(beganAt), new Date(endedAt)],
    );
    return rows[0]?.runs ?? 0;
  }
});

/**
 * Combines the rounds of one line: counts are added, percentiles become the median of the rounds,
 * and memory the maximum.
 */
function combine(parts: readonly Line[]): Line {
  const [first] = parts;
  if (first === undefined) throw new Error("nothing was measured");
  const sum = (
    field:
      | "requests"
      | "total"
      | "failures"
      | "seconds"
      | "serverCpu"
      | "databaseCpu"
      | "completed",
  ) => parts.reduce((total, part) => total + part[field], 0);
  return {
    ...first,
    requests: sum("requests"),
    total: sum("total"),
    failures: sum("failures"),
    seconds: sum("seconds"),
    p50: median(parts.map((part) => part.p50)),
    p99: median(parts.map((part) => part.p99)),
    serverCpu: sum("serverCpu"),
    databaseCpu: sum("databaseCpu"),
    memoryMiB: Math.max(...parts.map((part) => part.memoryMiB)),
    completed: sum("completed"),
    rates: parts.flatMap((part) => part.rates),
  };
}

/**
 * Prints each value of a line with its ratio to the baseline, line (a). Requests/s also have the
 * ratios of the worst and the best round, which show the variance.
 */
function print(lines: readonly { line: Line; against: Line }[], idleMiB: number): void {
  console.log(
    "\n| what, ratio to (a) in brackets | requests/s | runs completed/s | p50 ms | p99 ms | added to the model's, ms | server CPU s/1,000 | database CPU s/1,000 | memory MiB | failures |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const { line, against } of lines) {
    const cell = (value: (one: Line) => number, digits: number, more = "") => {
      const ratio =
        line === against ? "" : ` (${(value(line) / value(against)).toFixed(2)}${more})`;
      return value(line).toFixed(digits) + ratio;
    };
    const ratios = line.rates.map((rate, round) => rate / (against.rates[round] ?? Number.NaN));
    const cells = [
      line.name,
      cell(
        (one) => one.requests / one.seconds,
        0,
        `; ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      ),
      line === against ? "" : (line.completed / line.seconds).toFixed(0),
      cell((one) => one.p50, 2),
      cell((one) => one.p99, 2),
      cell((one) => one.p50 - one.modelMs, 2),
      cell((one) => (one.serverCpu / one.total) * 1_000, 3),
      cell((one) => (one.databaseCpu / one.total) * 1_000, 3),
      cell((one) => one.memoryMiB, 0),
      String(line.failures),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log(`\nServer process idle: ${idleMiB.toFixed(0)} MiB resident.`);
}
