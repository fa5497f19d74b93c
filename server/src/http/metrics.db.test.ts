import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, says, startModelServer, status } from "../../test/model-server.ts";
import { openStream } from "../../test/read-stream.ts";
import { startReceiver } from "../../test/receiver.ts";
import { subscribe } from "../../test/subscribe.ts";
import { unknownCredential } from "../../test/unknown-credential.ts";

const beckon = await startTestBeckon({ BECKON_METRICS_PORT: "0", BECKON_RETRY_SCHEDULE: "0" });
const { metric } = beckon;
const models = await startModelServer();
const receiver = await startReceiver();
afterAll(() => Promise.all([models.close(), receiver.close()]));
await beckon.createProvider(models.url, "scripted");
const agent = await beckon.createAgent({ model: "scripted/scripted" });

/** Returns a function that waits until a metric has grown by `by` since the call of `growth`. */
async function growth(name: string, labels: Record<string, string>, by: number) {
  const before = await metric(name, labels);
  return () =>
    eventually(`${name} ${JSON.stringify(labels)} to grow by ${by}`, async () =>
      (await metric(name, labels)) === before + by ? true : undefined,
    );
}
const invokeRoute = "/api/public/agents/:agent_id/invoke";

test("a run that succeeds is counted, with its request, model call, tokens and durations", async () => {
  const grown = await Promise.all([
    growth("beckon_runs_ended_total", { status: "succeeded", error_code: "" }, 1),
    growth("beckon_run_duration_seconds_count", { status: "succeeded" }, 1),
    growth("beckon_http_requests_total", { method: "POST", route: invokeRoute, status: "200" }, 1),
    growth("beckon_http_request_duration_seconds_count", { route: invokeRoute }, 1),
    growth("beckon_model_calls_total", { outcome: "answered" }, 1),
    growth("beckon_model_call_duration_seconds_count", {}, 1),
    growth("beckon_model_tokens_total", { kind: "input" }, 10),
    growth("beckon_model_tokens_total", { kind: "output" }, 5),
  ]);
  models.script([says("Hi")]);
  await beckon.invoke(agent, "Hello");
  for (const isGrown of grown) await isGrown();
});

test("a run that fails is counted by its error code, and its failed model call too", async () => {
  const grown = await Promise.all([
    growth("beckon_runs_ended_total", { status: "failed", error_code: "model_error" }, 1),
    growth("beckon_model_calls_total", { outcome: "failed" }, 1),
  ]);
  models.script([status(400)]);
  await beckon.invoke(agent, "Hello");
  for (const isGrown of grown) await isGrown();
});

test("a model call that is repeated counts each attempt, and a retry is a run of its own", async () => {
  const answered = await growth("beckon_model_calls_total", { outcome: "answered" }, 2);
  const failed = await growth("beckon_model_calls_total", { outcome: "failed" }, 1);
  const ended = await growth("beckon_runs_ended_total", { status: "succeeded", error_code: "" }, 2);
  models.script([status(500), echo()]);
  const { body } = await beckon.invoke(agent, "Hello");
  await beckon.call(`/runs/${body.run_id}/retry`, { method: "POST" });
  for (const isGrown of [answered, failed, ended]) await isGrown();
});

test("cancelled runs are counted, and the gauges show runs that execute and wait", async () => {
  const held = await startHeldModel(beckon);
  const slow = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const cancelled = await growth(
    "beckon_runs_ended_total",
    { status: "cancelled", error_code: "cancelled" },
    2,
  );
  const start = async () =>
    (await beckon.invoke(slow, "Hello", { prefer: "respond-async" })).body.run_id;
  const runs = [await start(), await start()];
  await held.reached(1);
  expect(await metric("beckon_runs_executing")).toBe(1);
  for (const id of runs) await beckon.call(`/runs/${id}/cancel`, { method: "POST" });
  await cancelled();
});

test("tool calls are counted by outcome", async () => {
  const clock = await beckon.createAgent({ tools: [{ type: "clock" }] });
  const ok = await growth("beckon_tool_calls_total", { outcome: "ok" }, 1);
  const refused = await growth("beckon_tool_calls_total", { outcome: "refused" }, 1);
  await beckon.invoke(clock, "/call clock {}");
  await beckon.invoke(clock, "/call nothing {}");
  for (const isGrown of [ok, refused]) await isGrown();
});

test("open streams, rejected credentials and deliveries are measured", async () => {
  const held = await startHeldModel(beckon);
  const slow = await beckon.createAgent({ model: held.model });
  const stream = await openStream(`${beckon.url}/api/public/agents/${slow.id}/invoke`, {
    credential: slow.token,
    body: { input: "Hello" },
    headers: { "content-type": "application/json" },
  });
  expect(await metric("beckon_http_streams")).toBe(1);
  stream.close();
  const rejected = await growth("beckon_credentials_rejected_total", { kind: "key" }, 1);
  await beckon.call("/agents", { credential: unknownCredential("bkw_") });
  await rejected();
  const failed = await growth("beckon_deliveries_total", { outcome: "failed" }, 1);
  receiver.respond = (_request, response) => response.writeHead(500).end();
  await subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["run.finished"],
  });
  await beckon.invoke(await beckon.createAgent(), "Hello");
  await failed();
});

test("a run that a limit ends is counted as such", async () => {
  const limited = await beckon.createAgent({ model: "scripted/scripted" });
  const rejected = await growth(
    "beckon_limit_rejections_total",
    { error_code: "price_unknown" },
    1,
  );
  const { status } = await beckon.call(`/limits/agent/${limited.id}`, {
    method: "PUT",
    body: { limit_micros: 0 },
  });
  expect(status).toBe(200);
  await beckon.invoke(limited, "Hello");
  await rejected();
});

test("figures of the database are read at most every 10 seconds, and by one process only", async () => {
  const names = async (database: boolean) =>
    (await beckon.metrics({ database })).map(({ name }) => name);
  expect(await names(true)).toEqual(expect.arrayContaining(["beckon_runs_queued"]));
  expect(await names(false)).not.toContain("beckon_runs_queued");
  expect(await metric("beckon_processes_alive")).toBe(1);
  // `beckon` has read its figures at an unknown time, so its 10 seconds could end during this test.
  // The new process `reading` first reads them in the first call of `alive`. The second call
  // follows within 10 seconds, so it must return the same figures.
  const reading = await beckon.another();
  const alive = async () =>
    (await reading.collectMetrics({ database: true })).find(
      ({ name }) => name === "beckon_processes_alive",
    )?.values[0]?.value;
  expect(await alive()).toBe(2);
  const other = await beckon.another();
  expect(await alive()).toBe(2);
  await Promise.all([reading.stop(), other.stop()]);
});

test("the memory budgets are measured by use", async () => {
  const metrics = await beckon.metrics({ database: false });
  for (const name of ["beckon_memory_held_bytes", "beckon_memory_budget_bytes"]) {
    const measured = metrics.find((metric) => metric.name === name);
    expect(measured?.values.map(({ labels }) => labels.use)).toEqual([
      "runs",
      "exchanges",
      "outputs",
      "deliveries",
    ]);
  }
});

test("no label has an id, a name or a URL as its value", async () => {
  const values = (await beckon.metrics({ database: true })).flatMap((metric) =>
    metric.values.flatMap(({ labels }) => Object.values(labels)),
  );
  expect(values.length).toBeGreaterThan(100);
  for (const value of values)
    expect(String(value)).not.toMatch(
      /^(agt|run|wsp|key|prc|sub|usr|dlv)_|https?:|scripted|127\.0/,
    );
});

test("a process without BECKON_METRICS_PORT has no metrics", async () => {
  const other = await beckon.another({ settings: { BECKON_METRICS_PORT: "" } });
  expect(await other.collectMetrics({ database: true })).toEqual([]);
  await other.stop();
});
