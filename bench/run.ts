import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { serverFlags } from "../server/src/supervise-servers.ts";
import type { LoadResult } from "./load.ts";
import { type Agent, prepareAgent } from "./prepare-agent.ts";
import { cpuSeconds, residentMiB, run, type Started, stop } from "./processes.ts";
import { storeRuns } from "./store-runs.ts";

/**
 * Measures Beckon against the limit: a bare server that does only what no server can leave out (`baseline.ts`). Everything runs on this
 * machine, so figures are ratios within one run and nothing else.
 *
 *   script/bench                     the table
 *   script/bench --stored 1000000    the same with so many finished runs in the database
 *   script/bench --seconds 5         how long each line is measured
 */
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "8" }, stored: { type: "string", default: "0" }, only: { type: "string" } },
});
const seconds = Number(values.seconds);

interface Target {
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
  /** Completed runs a second, where that is not the same as requests. */
  readonly completed?: number;
}

const dataDir = await mkdtemp(join(tmpdir(), "beckon-bench-"));
const database = await startEmbedded({ dataDir, log: createLog("warn") });
const started: Started<unknown>[] = [];
try {
  const [instant, slow] = [
    await begin<{ port: number }>("model.ts", ["words", "0"]),
    await begin<{ port: number }>("model.ts", ["words", "500"]),
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
  const idle = residentMiB(server.pid);
  const agents = {
    instant: await prepareAgent(server.said.port, environment.BECKON_BOOTSTRAP_KEY, "instant", instant.said.port),
    slow: await prepareAgent(server.said.port, environment.BECKON_BOOTSTRAP_KEY, "slow", slow.said.port),
  };
  if (Number(values.stored) > 0) await storeRuns(database.url, agents.instant.id, Number(values.stored));
  const bare = {
    instant: await begin<{ port: number }>("baseline.ts", [database.url, String(instant.said.port)]),
    slow: await begin<{ port: number }>("baseline.ts", [database.url, String(slow.said.port)]),
  };

  const limit = (which: "instant" | "slow"): Target => ({ process: bare[which], port: bare[which].said.port, path: "/", headers: {} });
  const invoke = (agent: Agent): Target => ({
    process: server,
    port: server.said.port,
    path: `/api/public/agents/${agent.id}/invoke`,
    headers: { "x-api-key": agent.token },
  });
  const fire = (agent: Agent): Target => ({ process: server, port: server.said.port, path: agent.triggerPath, headers: {} });

  const lines: { line: Line; against: Line }[] = [];
  const compare = async (title: string, connections: number, base: Target, targets: [string, Target][]) => {
    if (values.only !== undefined && !title.includes(values.only)) return;
    const against = await measure(`(a) limit, ${title}`, base, connections);
    lines.push({ line: against, against });
    for (const [name, target] of targets) lines.push({ line: await measure(`${name}, ${title}`, target, connections), against });
  };
  await compare("instant model, 64 connections", 64, limit("instant"), [
    ["(b) invoke", invoke(agents.instant)],
    ["(c) fire", fire(agents.instant)],
  ]);
  await compare("500 ms model, 1,000 connections", 1_000, limit("slow"), [["(b) invoke", invoke(agents.slow)]]);
  await compare("instant model, 1 connection", 1, limit("instant"), [["(b) invoke", invoke(agents.instant)]]);

  print(lines, idle);

  async function measure(name: string, target: Target, connections: number): Promise<Line> {
    const load = {
      port: target.port,
      path: target.path,
      headers: { "content-type": "application/json", ...target.headers },
      body: JSON.stringify({ input: "What is the state of order 4711?" }),
      connections,
      seconds,
      warmUpSeconds: 3,
    };
    const generator = await begin<"begin">("load.ts", [JSON.stringify(load)]);
    const before = { server: cpuSeconds(target.process.pid, { tree: false }), database: cpuSeconds(database.pid, { tree: true }) };
    const result = await new Promise<LoadResult | { error: string }>((resolve) =>
      generator.child.once("message", (message) => resolve(message as LoadResult | { error: string })),
    );
    if ("error" in result) throw new Error(`${name}: ${result.error}`);
    const memory = residentMiB(target.process.pid);
    const used = { server: cpuSeconds(target.process.pid, { tree: false }), database: cpuSeconds(database.pid, { tree: true }) };
    await new Promise((resolve) => generator.child.once("exit", resolve));
    return {
      name,
      connections,
      ...result,
      memory,
      serverCpu: ((used.server - before.server) / result.requests) * 1_000,
      databaseCpu: ((used.database - before.database) / result.requests) * 1_000,
    };
  }
} finally {
  await Promise.all(started.map(stop));
  await database.stop();
  await rm(dataDir, { recursive: true, force: true });
}

async function begin<T>(...parameters: Parameters<typeof run>): Promise<Started<T>> {
  const process = await run<T>(...parameters);
  started.push(process);
  return process;
}

function print(lines: readonly { line: Line; against: Line }[], idle: number): void {
  console.log(
    "\n| what | requests/s | ratio to (a) | p50 ms | p99 ms | p50 ratio | server CPU s/1,000 | database CPU s/1,000 | memory MiB | failures |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|---|");
  for (const { line, against } of lines) {
    const rate = (one: Line) => one.requests / one.seconds;
    const cells = [
      line.name,
      rate(line).toFixed(0),
      (rate(line) / rate(against)).toFixed(2),
      line.p50.toFixed(2),
      line.p99.toFixed(2),
      (line.p50 / against.p50).toFixed(2),
      line.serverCpu.toFixed(3),
      line.databaseCpu.toFixed(3),
      line.memory.toFixed(0),
      String(line.failures),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log(`\nServer process idle: ${idle.toFixed(0)} MiB resident.`);
}
