import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { startEmbedded } from "../server/src/base/database/embedded/index.ts";
import { createLog } from "../server/src/base/log.ts";
import { serverFlags } from "../server/src/supervisor/keep-servers.ts";
import { openApi } from "./api.ts";
import { withCleanUp } from "./clean-up.ts";
import { prepareAgent } from "./prepare-agent.ts";
import { cpuSeconds, run, stop } from "./processes.ts";
import type { Arrivals } from "./readers.ts";

/**
 * Measures event streams. All processes run on this machine.
 *
 *   script/bench streams                  both tables
 *   script/bench streams --seconds 5      seconds that each line of the first table is measured
 *   script/bench streams --only latency   one table; the other is cpu
 *
 * *Latency*: one process executes a run that writes two events at a time, slowly enough to keep no
 * process busy. Latency is the time from the commit to the moment when each reader has the whole
 * event. PostgreSQL takes the time of the commit (`track_commit_timestamp`, which this benchmark
 * switches on) just before it flushes the commit record to disk. Readers are notified after the
 * flush, so latency includes the flush. It also includes the time that the process of the readers
 * needs, on the same cores, to read all events. All times are from the same clock.
 *
 * *CPU*: the server's CPU for runs whose model produces 100 tokens a second, in three cases:
 * without a subscriber, where Beckon requests the response in one piece; without a subscriber but
 * streamed; with a subscriber per run. CPU used while idle is subtracted.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "10" },
    only: { type: "string", default: "latency cpu" },
  },
});
const seconds = Number(values.seconds);
const stepDelayMs = 250;
const tokenDelayMs = 10;
const runsAtOnce = 40;

await withCleanUp(async (opened) => {
  const dataDir = await mkdtemp(join(tmpdir(), "beckon-bench-"));
  opened.defer(() => rm(dataDir, { recursive: true, force: true }));
  const database = await startEmbedded({
    dataDir,
    log: createLog("warn"),
    settings: { track_commit_timestamp: "on" },
  });
  opened.defer(() => database.stop());

  const [calls, tokens] = [
    await run<{ port: number }>(opened, "model.ts", ["calls", String(stepDelayMs)]),
    await run<{ port: number }>(opened, "model.ts", ["tokens", String(tokenDelayMs)]),
  ];
  const key = "bench-key-of-at-least-thirty-two-characters";
  const env = {
    DATABASE_URL: database.url,
    BECKON_MASTER_KEY: "0".repeat(64),
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_EGRESS_ALLOW: [calls, tokens]
      .map(({ message }) => `127.0.0.1:${message.port}`)
      .join(","),
    PORT: "0",
    LOG_LEVEL: "warn",
  };
  const server = await run<{ port: number }>(opened, "beckon.ts", [], { env, flags: serverFlags });
  const api = openApi(server.message.port, key);
  const call = async (
    path: string,
    body: object,
    { method = "POST", ...headers }: Record<string, string> = {},
  ) => {
    const url = `http://127.0.0.1:${server.message.port}/api/public${path}`;
    const response = await fetch(url, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return text;
  };

  if (values.only.includes("latency")) {
    const { id } = await prepareAgent(api, "calls", calls.message.port);
    await call(
      `/agents/${id}`,
      { limits: { max_steps: 1_000 }, model_settings: { stream: "never" } },
      { method: "PATCH" },
    );
    // This process executes no runs. Its readers get events that the process `server` wrote.
    const other = await run<{ port: number }>(opened, "beckon.ts", [], {
      env: { ...env, BECKON_ROLE: "api" },
      flags: serverFlags,
    });
    console.log("\n| stream | readers | read at | events | p50 ms | p99 ms | missed |");
    console.log("|---|---|---|---|---|---|---|");
    for (const [stream, where, { message }] of [
      ["of the run", "the executing process", server],
      ["of the run", "another process", other],
      ["of the workspace", "the executing process", server],
      ["of the workspace", "another process", other],
    ] as const) {
      for (const count of [1, 100, 1_000]) {
        const { run_id } = JSON.parse(
          await call(`/agents/${id}/invoke`, { input: "Go" }, { prefer: "respond-async" }),
        ) as {
          run_id: string;
        };
        const path =
          stream === "of the run" ? `/api/public/runs/${run_id}/events` : "/api/public/events";
        const readers = await run<"open">(opened, "readers.ts", [
          JSON.stringify({ port: message.port, path, key, count }),
        ]);
        const openAt = Date.now();
        const reported = new Promise<Arrivals>((resolve) =>
          readers.child.once("message", (message) => resolve(message as Arrivals)),
        );
        await sleep(seconds * 1_000);
        await call(`/runs/${run_id}/cancel`, {});
        const { events, latencies } = await latenciesOf(run_id, openAt, await reported);
        const at = (part: number) =>
          (
            latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0
          ).toFixed(1);
        console.log(
          `| ${stream} | ${count} | ${where} | ${events} | ${at(0.5)} | ${at(0.99)} | ${events * count - latencies.length} |`,
        );
      }
    }
    await stop(other);
  }

  if (values.only.includes("cpu")) {
    const { id } = await prepareAgent(api, "tokens", tokens.message.port);
    const used = () => cpuSeconds(server.pid, { tree: false });
    const measure = async (act: () => Promise<unknown>) => {
      const [cpu, began] = [used(), performance.now()];
      await act();
      return { cpu: used() - cpu, seconds: (performance.now() - began) / 1_000 };
    };
    const runs = (count: number, headers: Record<string, string>) =>
      Promise.all(
        Array.from({ length: count }, () => call(`/agents/${id}/invoke`, { input: "Go" }, headers)),
      );
    const idle = await measure(() => sleep(5_000));
    let first: number | undefined;
    console.log("\n| what | runs | server CPU ms/1,000 tokens | ratio |");
    console.log("|---|---|---|---|");
    for (const [name, mode, headers] of [
      ["no subscriber, response in one piece", "auto", {}],
      ["no subscriber, streamed response", "always", {}],
      ["one subscriber per run", "auto", { accept: "text/event-stream" }],
    ] as const) {
      await call(`/agents/${id}`, { model_settings: { stream: mode } }, { method: "PATCH" });
      await runs(runsAtOnce / 2, headers);
      const { cpu, seconds } = await measure(() => runs(runsAtOnce, headers));
      const each = (cpu - (idle.cpu / idle.seconds) * seconds) / runsAtOnce;
      first ??= each;
      console.log(
        `| ${name} | ${runsAtOnce} | ${(each * 1_000).toFixed(1)} | ${(each / first).toFixed(1)} |`,
      );
    }
  }

  /**
   * Returns the number of the run's events that were committed after all readers had subscribed,
   * and the latencies of these events in milliseconds, sorted.
   */
  async function latenciesOf(
    runId: string,
    openAt: number,
    arrivals: Arrivals,
  ): Promise<{ events: number; latencies: number[] }> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      await client.query("set beckon.workspace = '*'");
      const { rows } = await client.query<{ id: string; committed: number }>(
        `select id, committed from (
         select id,
           (extract(epoch from pg_xact_commit_timestamp(transaction::text::xid)) * 1000)::float8
             as committed
         from events where run_id = $1
       ) as e where committed > $2`,
        [runId, openAt],
      );
      const latencies = rows.flatMap(({ id, committed }) =>
        (arrivals[id] ?? []).map((at) => at - committed),
      );
      return { events: rows.length, latencies: latencies.sort((a, b) => a - b) };
    } finally {
      await client.end();
    }
  }
});
