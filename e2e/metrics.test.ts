import { expect, onTestFinished, test } from "vitest";
import { startTraceReceiver } from "../server/test/trace-receiver.ts";
import { caller } from "./call.ts";
import { freePort, startProduct, temporaryFolder, until } from "./product.ts";

const key = `bootstrap_${"k".repeat(40)}`;

/** Reads metrics in the text format of Prometheus. Returns the values by name with labels. */
async function scrape(url: string): Promise<Map<string, number>> {
  const response = await fetch(url);
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const lines = (await response.text()).split("\n").filter((line) => /^\w/.test(line));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/**
 * Reads metrics until they contain the current ones of all processes. On a busy machine, a process
 * can respond too late. The supervisor then uses its previous metrics and counts it as silent.
 */
async function scrapeAll(url: string): Promise<Map<string, number>> {
  let all = new Map<string, number>();
  await until("the metrics of all processes", async () => {
    all = await scrape(url);
    return all.get("beckon_processes_silent") === 0;
  });
  return all;
}

const succeeded = 'beckon_runs_ended_total{status="succeeded",error_code=""}';

test("the supervisor serves the sum of all processes, no counter decreases when one is killed, and a stop exports the last spans", async () => {
  const port = await freePort();
  const traces = await startTraceReceiver();
  onTestFinished(() => traces.close());
  const beckon = await startProduct({
    BECKON_DATA_DIR: temporaryFolder(),
    PORT: String(await freePort()),
    BECKON_PROCESSES: "2",
    BECKON_BOOTSTRAP_KEY: key,
    BECKON_METRICS_PORT: String(port),
    BECKON_DRAIN_SECONDS: "5",
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    // The delay is so long that spans are exported only when the process stops.
    OTEL_BSP_SCHEDULE_DELAY: "600000",
  });
  const url = beckon.printed("Metrics");
  expect(url).toBe(`http://127.0.0.1:${port}/metrics`);
  const call = caller(
    () => beckon.url,
    () => key,
  );
  await until("both processes", async () => (await scrape(url)).get("beckon_processes") === 2);
  const agent = (await call("/agents", { body: { name: "Test", model: "demo/echo" } })).body.data;
  const runs: string[] = [];
  const invoke = async () => {
    // Each call has a connection of its own, so both processes get some.
    const { status, body } = await call(`/agents/${agent.id}/invoke`, {
      key: agent.token,
      body: { input: "Hello" },
      headers: { connection: "close" },
    });
    expect(status).toBe(200);
    runs.push(body.run_id);
  };
  for (let count = 0; count < 30; count++) await invoke();
  const before = await scrapeAll(url);
  expect(before.get(succeeded)).toBe(30);
  expect(before.get("beckon_runs_queued")).toBe(0);

  const servers = beckon.output().match(/"process_id":"prc_\w+","role":"all".*?"pid":(\d+)/g) ?? [];
  const [victim] = servers.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]));
  if (victim === undefined) throw new Error("the log names no server process");
  process.kill(victim, "SIGKILL");
  await until("the exit", async () => {
    const now = await scrape(url);
    expect(now.get(succeeded)).toBe(30);
    return now.get("beckon_process_exits_total") === 1;
  });
  await until("another process", async () => (await scrape(url)).get("beckon_processes") === 2);
  for (let count = 0; count < 10; count++) await invoke();
  const after = await scrapeAll(url);
  expect(after.get(succeeded)).toBe(40);
  for (const [name, value] of before)
    if (/_(total|bucket|count)(\{|$)/.test(name))
      expect([name, after.get(name)]).toEqual([name, expect.toSatisfy((now) => now >= value)]);

  // The value of `beckon_processes_alive` can be up to 10 seconds old.
  await until("its lease", async () => (await scrape(url)).get("beckon_processes_alive") === 2);
  expect((await fetch(new URL("/", url))).status).toBe(404);
  expect((await fetch(url, { method: "POST" })).status).toBe(405);
  const all = await (await fetch(url)).text();
  for (const secret of [key, agent.token, agent.id, "bka_", "agt_"])
    expect(all).not.toContain(secret);
  expect(await beckon.stop()).toBe(0);
  // The killed process exported none of its spans. So only the last 10 runs, which were started
  // after the kill, must all have one.
  const traced = traces.spans
    .filter(({ name }) => name === "invoke_agent Test")
    .map(({ attributes }) => attributes["beckon.run.id"]);
  for (const run of runs.slice(-10)) expect(traced).toContain(run);
  for (const run of traced) expect(runs).toContain(run);
});

test("a port of the metrics that is taken stops the start, and names its setting", async () => {
  const port = await freePort();
  const first = await startProduct({
    BECKON_DATA_DIR: temporaryFolder(),
    PORT: String(await freePort()),
    BECKON_METRICS_PORT: String(port),
  });
  await expect(
    startProduct({
      BECKON_DATA_DIR: temporaryFolder(),
      PORT: String(await freePort()),
      BECKON_METRICS_PORT: String(port),
    }),
  ).rejects.toThrow(/set BECKON_METRICS_PORT to another port/);
  await first.stop();
});
