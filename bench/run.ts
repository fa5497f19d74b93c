import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { serverFlags } from "../server/src/supervise-servers.ts";
import type { LoadResult } from "./load.ts";
import { prepareAgent } from "./prepare-agent.ts";
import { cpuSeconds, residentMiB, run, type Started, stop } from "./processes.ts";
import { storeRuns } from "./store-runs.ts";

/**
 * Measures Beckon against the limit: a bare server that does only what no server can leave out (`baseline.ts`). Everything runs on this
 * machine, so figures are ratios within one run and nothing else.
 *
 *   script/bench                     the table
 *   script/bench --stored 1000000    the same with so many finished runs in the database
 *   script/bench --seconds 5         how long each line is measured in each round
 *   script/bench --only "64 conn"    the lines that have this in their title
 *
 * What is compared is measured in turn, several rounds of it: a machine that gets slower or faster meanwhile does so to all of them.
 */
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "8" }, stored: { type: "string", default: "0" }, only: { type: "string" } },
});
const seconds = Number(values.seconds);
const rounds = 5;
/** Until what is hot has been compiled; then, until the connections are open. */
const warmUpSeconds = { first: 8, later: 2 };
/** Milliseconds that the two models take. */
const modelMs = { instant: 0, slow: 500 };

interface Target {
  /** Milliseconds that its model takes. */
  readonly modelMs: number;
  readonly process: Started<unknown>;
  readonly port: number;
  readonly path: string;
  readonly headers: Record<string, string>;
}

interface Line extends LoadResult {
  readonly name: string;
  readonly connections: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly memory: number;
  readonly modelMs: number;
  /** Runs that ended meanwhile. */
  readonly completed: number;
  /** Requests/s of each round. */
  readonly rates: readonly number[];
}

const dataDir = await mkdtemp(join(tmpdir(), "beckon-bench-"));
const database = await startEmbedded({ dataDir, log: createLog("warn") });
const observer = new Client({ connectionString: database.url, options: "-c beckon.workspace=*" });
await observer.connect();
const started: Started<unknown>[] = [];
try {
  const [instant, slow] = [
    await begin<{ port: number }>("model.ts", ["words", String(modelMs.instant)]),
    await begin<{ port: number }>("model.ts", ["words", String(modelMs.slow)]),
  ];
  const environment = {
    DATABASE_URL: database.url,
    BECKON_MASTER_KEY: "0".repeat(64),
    BECKON_BOOTSTRAP_KEY: "bench-key-of-at-least-thirty-two-characters",
    BECKON_EGRESS_ALLOW: [instant, slow].map(({ said }) => `127.0.0.1:${said.port}`).join(","),
    PORT: "0",
    LOG_LEVEL: "warn",
  };
  const server = await begin<{ port: number }>("beckon.ts", [], { env: environment, flags: serverFlags });
  const idleMiB = residentMiB(server.pid);
  const agents = {
    instant: await prepareAgent(server.said.port, environment.BECKON_BOOTSTRAP_KEY, "instant", instant.said.port),
    slow: await prepareAgent(server.said.port, environment.BECKON_BOOTSTRAP_KEY, "slow", slow.said.port),
  };
  if (Number(values.stored) > 0) await storeRuns(database.url, agents.instant.id, Number(values.stored));
  const bare = {
    instant: await begin<{ port: number }>("baseline.ts", [database.url, String(instant.said.port)]),
    slow: await begin<{ port: number }>("baseline.ts", [database.url, String(slow.said.port)]),
  };

  const limit = (which: "instant" | "slow"): Target => ({
    modelMs: modelMs[which],
    process: bare[which],
    port: bare[which].said.port,
    path: "/",
    headers: {},
  });
  const invoke = (which: "instant" | "slow"): Target => ({
    modelMs: modelMs[which],
    process: server,
    port: server.said.port,
    path: `/api/public/agents/${agents[which].id}/invoke`,
    headers: { "x-api-key": agents[which].token },
  });
  const fire = (which: "instant" | "slow"): Target => ({
    modelMs: modelMs[which],
    process: server,
    port: server.said.port,
    path: agents[which].triggerPath,
    headers: {},
  });

  const lines: { line: Line; against: Line }[] = [];
  const compare = async (title: string, connections: number, base: Target, targets: [string, Target][]) => {
    if (values.only !== undefined && !title.includes(values.only)) return;
    const measured = new Map<Target, Line[]>();
    for (let round = 0; round < rounds; round++) {
      for (const [name, target] of [["(a) limit", base] as const, ...targets]) {
        const line = await measure(`${name}, ${title}`, target, connections, round === 0 ? warmUpSeconds.first : warmUpSeconds.later);
        measured.set(target, [...(measured.get(target) ?? []), line]);
      }
    }
    const [against, ...others] = [...measured.values()].map(together);
    if (against === undefined) return;
    lines.push({ line: against, against }, ...others.map((line) => ({ line, against })));
  };
  await compare("instant model, 64 connections", 64, limit("instant"), [
    ["(b) invoke", invoke("instant")],
    ["(c) fire", fire("instant")],
  ]);
  await compare("500 ms model, 1,000 connections", 1_000, limit("slow"), [["(b) invoke", invoke("slow")]]);
  await compare("instant model, 1 connection", 1, limit("instant"), [["(b) invoke", invoke("instant")]]);

  print(lines, idleMiB);

  async function measure(name: string, target: Target, connections: number, warmUpSeconds: number): Promise<Line> {
    const load = {
      port: target.port,
      path: target.path,
      headers: { "content-type": "application/json", ...target.headers },
      body: JSON.stringify({ input: "What is the state of order 4711?" }),
      connections,
      seconds,
      warmUpSeconds,
    };
    const generator = await begin<"begin">("load.ts", [JSON.stringify(load)]);
    const began = new Date();
    const before = { server: cpuSeconds(target.process.pid, { tree: false }), database: cpuSeconds(database.pid, { tree: true }) };
    const result = await new Promise<LoadResult | { error: string }>((resolve) =>
      generator.child.once("message", (message) => resolve(message as LoadResult | { error: string })),
    );
    if ("error" in result) throw new Error(`${name}: ${result.error}`);
    const ended = new Date();
    const memory = residentMiB(target.process.pid);
    const used = { server: cpuSeconds(target.process.pid, { tree: false }), database: cpuSeconds(database.pid, { tree: true }) };
    await new Promise((resolve) => generator.child.once("exit", resolve));
    const { rows } = await observer.query<{ runs: number }>(
      "select count(*)::int as runs from runs where finished_at >= $1 and finished_at < $2",
      [began, ended],
    );
    await idle();
    return {
      name,
      connections,
      modelMs: target.modelMs,
      ...result,
      memory,
      serverCpu: used.server - before.server,
      databaseCpu: used.database - before.database,
      completed: rows[0]?.runs ?? 0,
      rates: [result.requests / result.seconds],
    };
  }
  /** Resolves when no run is waiting or executing: what was fired goes on after the load has ended. */
  async function idle(): Promise<void> {
    while ((await observer.query("select from runs where status in ('queued', 'running') limit 1")).rows.length > 0) await sleep(100);
  }
} finally {
  await observer.end();
  await Promise.all(started.map(stop));
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}

/** What the rounds of one line come to: sums, the middle of the percentiles, the most memory. */
function together(parts: readonly Line[]): Line {
  const [first] = parts;
  if (first === undefined) throw new Error("nothing was measured");
  const sum = (member: "requests" | "failures" | "seconds" | "serverCpu" | "databaseCpu" | "completed") =>
    parts.reduce((total, part) => total + part[member], 0);
  const middle = (member: "p50" | "p99") => parts.map((part) => part[member]).toSorted((a, b) => a - b)[Math.floor(parts.length / 2)] ?? 0;
  return {
    name: first.name,
    connections: first.connections,
    modelMs: first.modelMs,
    requests: sum("requests"),
    failures: sum("failures"),
    seconds: sum("seconds"),
    p50: middle("p50"),
    p99: middle("p99"),
    serverCpu: sum("serverCpu"),
    databaseCpu: sum("databaseCpu"),
    memory: Math.max(...parts.map((part) => part.memory)),
    completed: sum("completed"),
    rates: parts.flatMap((part) => part.rates),
  };
}

async function begin<T>(...parameters: Parameters<typeof run>): Promise<Started<T>> {
  const process = await run<T>(...parameters);
  started.push(process);
  return process;
}

/** Every figure of a line beside its ratio to (a)'s; of requests/s also the ratios of the worst and of the best round: how far it is to be trusted. */
function print(lines: readonly { line: Line; against: Line }[], idleMiB: number): void {
  console.log(
    "\n| what, ratio to (a) in brackets | requests/s | runs completed/s | p50 ms | p99 ms | added to the model's, ms | server CPU s/1,000 | database CPU s/1,000 | memory MiB | failures |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const { line, against } of lines) {
    const cell = (value: (one: Line) => number, digits: number, more = "") => {
      const ratio = line === against ? "" : ` (${(value(line) / value(against)).toFixed(2)}${more})`;
      return value(line).toFixed(digits) + ratio;
    };
    const ratios = line.rates.map((rate, round) => rate / (against.rates[round] ?? Number.NaN));
    const cells = [
      line.name,
      cell((one) => one.requests / one.seconds, 0, `; ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`),
      line === against ? "" : (line.completed / line.seconds).toFixed(0),
      cell((one) => one.p50, 2),
      cell((one) => one.p99, 2),
      cell((one) => one.p50 - one.modelMs, 2),
      cell((one) => (one.serverCpu / one.requests) * 1_000, 3),
      cell((one) => (one.databaseCpu / one.requests) * 1_000, 3),
      cell((one) => one.memory, 0),
      String(line.failures),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log(`\nServer process idle: ${idleMiB.toFixed(0)} MiB resident.`);
}
