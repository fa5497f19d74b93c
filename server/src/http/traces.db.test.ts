import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { says, startModelServer, status } from "../../test/model-server.ts";
import { startReceiver } from "../../test/receiver.ts";
import { subscribe } from "../../test/subscribe.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { type ReceivedSpan, startTraceReceiver } from "../../test/trace-receiver.ts";
import { uuidOf } from "../base/ids.ts";

const traces = await startTraceReceiver();
// Vitest calls hooks in reverse order, so this receiver is closed after Beckon, which exports its
// last spans when it stops.
afterAll(() => traces.close());
const { log, named } = captureLog("info");
const beckon = await startTestBeckon(
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-collector=collector-secret",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    BECKON_RETRY_SCHEDULE: "0",
  },
  { log },
);
const models = await startModelServer();
const [receiver, target] = [await startReceiver(), await startTargetServer()];
afterAll(() => Promise.all([models.close(), receiver.close(), target.close()]));
await beckon.createProvider(models.url, "scripted");
const secrets = [
  beckon.key,
  "whsec_",
  "collector-secret",
  "prompt-text",
  "output-text",
  "fixed-key",
];
const prompt = "prompt-text of a caller";

const ofRun =
  (runId: string, name: string) =>
  ({ traceId, name: given }: ReceivedSpan) =>
    traceId === uuidOf(runId) && given.startsWith(name);
async function spanOf(runId: string, name: string): Promise<ReceivedSpan> {
  const [span] = await traces.await(ofRun(runId, name));
  if (span === undefined) throw new Error("the wait returns a span");
  return span;
}
const invokeSpan = "POST /api/public/agents/:agent_id/invoke";
const traceparentOf = ({ traceId, spanId }: ReceivedSpan) => `00-${traceId}-${spanId}-01`;
const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const [, parentTrace = "", parentSpan = ""] = parent.split("-");

/** Returns a tool with one operation, which calls the target. */
const httpTool = (name: string, headers: object) => ({
  type: "http",
  name: `api_${name}`,
  allowed_hosts: [target.host],
  headers: { "x-api-key": "fixed-key", ...headers },
  operations: [
    { name, description: "Reads", method: "GET", url: `${target.url}/${name}?token=fixed-key` },
  ],
});

/**
 * Starts runs until the process that got the request executes one of them without queueing it.
 * Returns the id of that run. A process queues new runs until it knows that the queue is empty.
 * @param start returns the id of the new run, and whether it was not queued
 */
const unqueued = (start: () => Promise<readonly [runId: string, isUnqueued: boolean]>) =>
  eventually("a run that is not queued", async () => {
    const [runId, isUnqueued] = await start();
    return isUnqueued ? runId : undefined;
  });

test("a run with a tool call is one trace, from the request to the called API and the delivery", async () => {
  const agent = await beckon.createAgent({
    name: "Librarian",
    tools: [httpTool("read", {}), httpTool("own", { Traceparent: parent })],
  });
  await subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: `${receiver.url}/whsec_in-path?token=whsec_in-query`,
    eventTypes: ["run.finished"],
    agentIds: [agent.id],
  });
  let requestId: string | null = null;
  const runId = await unqueued(async () => {
    const { body, headers } = await beckon.invoke(agent, `/call read {}\n/call own {}\n${prompt}`);
    requestId = headers.get("beckon-request-id");
    const run = await spanOf(body.run_id, "invoke_agent");
    return [body.run_id, run.parentSpanId !== ""];
  });
  const [request, run, read] = [
    await spanOf(runId, invokeSpan),
    await spanOf(runId, "invoke_agent"),
    await spanOf(runId, "execute_tool read"),
  ];
  expect(request).toMatchObject({ kind: 2, parentSpanId: "", links: [], status: 0 });
  expect(request.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/api/public/agents/:agent_id/invoke",
    "http.response.status_code": 200,
    "url.scheme": "http",
    "beckon.request.id": requestId,
    "beckon.run.id": runId,
  });
  expect(request.resource).toMatchObject({
    "service.name": "beckon",
    "service.instance.id": expect.stringMatching(/^prc_/),
    "deployment.environment.name": "test",
  });
  expect(run).toMatchObject({
    ...{ name: "invoke_agent Librarian", kind: 1, status: 0, parentSpanId: request.spanId },
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "Librarian",
      "gen_ai.agent.version": "1",
      "beckon.run.id": runId,
      "beckon.run.status": "succeeded",
    },
  });
  const chats = await traces.await(ofRun(runId, "chat echo"), 2);
  expect(chats.map(({ kind, parentSpanId }) => [kind, parentSpanId])).toEqual([
    [3, run.spanId],
    [3, run.spanId],
  ]);
  expect(chats[0]?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "demo",
    "gen_ai.request.model": "echo",
    "gen_ai.response.finish_reasons": ["tool_calls"],
    "gen_ai.usage.output_tokens": expect.any(Number),
    "beckon.attempts": 1,
  });
  expect(read).toMatchObject({ kind: 1, parentSpanId: run.spanId, status: 0 });
  expect(read.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "read",
    "gen_ai.tool.call.id": expect.any(String),
    "beckon.step": 1,
  });
  const sent = (path: string) =>
    target.reached.findLast(({ url }) => url.startsWith(path))?.headers.traceparent;
  expect([sent("/read"), sent("/own")]).toEqual([traceparentOf(read), parent]);

  const delivery = await spanOf(runId, "deliver run.finished");
  expect(delivery).toMatchObject({
    ...{ kind: 3, status: 0, links: [{ traceId: run.traceId, spanId: run.spanId }] },
    attributes: {
      "http.request.method": "POST",
      "http.response.status_code": 204,
      "server.address": "127.0.0.1",
      "beckon.run.id": runId,
    },
  });
  const sentTo = receiver.received.map(({ headers }) => headers.traceparent);
  expect(sentTo).toContain(traceparentOf(delivery));
});

test("a subscription's own header traceparent takes precedence, and a failed attempt is an error", async () => {
  const agent = await beckon.createAgent();
  await subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["run.finished"],
    agentIds: [agent.id],
    headers: { Traceparent: parent },
  });
  receiver.respond = (_request, response) => response.writeHead(500).end();
  const { run_id: runId } = (await beckon.invoke(agent, prompt)).body;
  const delivery = await spanOf(runId, "deliver run.finished");
  expect(delivery).toMatchObject({ status: 2, attributes: { "error.type": "500" } });
  expect(receiver.received.at(-1)?.headers.traceparent).toBe(parent);
});

test("each test of a subscription is a trace of its own, without a run", async () => {
  receiver.respond = (_request, response) => response.writeHead(204).end();
  const { id } = await subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["run.finished"],
    agentIds: [(await beckon.createAgent()).id],
  });
  const ids: unknown[] = [];
  for (let count = 0; count < 2; count++) {
    const tested = await beckon.call(`/subscriptions/${id}/test`, { method: "POST" });
    expect(tested.status).toBe(201);
    ids.push(tested.body.data.id);
  }
  const spans = await traces.await(
    ({ attributes }) => ids.includes(attributes["beckon.delivery.id"]),
    2,
  );
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
  for (const { links, attributes } of spans) {
    expect(links).toEqual([]);
    expect(attributes).not.toHaveProperty("beckon.run.id");
  }
});

test("a run that fails has the provider's status, and one that is repeated its attempts", async () => {
  const agent = await beckon.createAgent({ model: "scripted/scripted" });
  models.script([status(400)]);
  const failed = (await beckon.invoke(agent, prompt)).body.run_id;
  expect(await spanOf(failed, "invoke_agent")).toMatchObject({
    status: 2,
    attributes: { "beckon.run.status": "failed", "error.type": "model_error" },
  });
  expect(await spanOf(failed, "chat scripted")).toMatchObject({
    status: 2,
    attributes: { "error.type": "400", "beckon.attempts": 1, "gen_ai.provider.name": "scripted" },
  });
  // The provider gets no traceparent: it is not part of the operator's systems.
  expect(models.requests.at(-1)?.headers.traceparent).toBeUndefined();

  models.script([status(500), says("output-text of a model")]);
  const repeated = (await beckon.invoke(agent, prompt)).body.run_id;
  const chat = await spanOf(repeated, "chat scripted");
  expect(chat).toMatchObject({
    status: 0,
    attributes: {
      "beckon.attempts": 2,
      "gen_ai.response.model": expect.any(String),
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
    },
  });
});

test("a tool call that fails is an error, and its run is none", async () => {
  // Nothing listens on port 9.
  const [host, url] = ["127.0.0.1:9", "http://127.0.0.1:9/down"];
  const operations = [{ name: "down", description: "Fails", method: "GET", url }];
  const agent = await beckon.createAgent({
    tools: [{ type: "http", name: "api_down", allowed_hosts: [host], operations }],
  });
  const { run_id: runId } = (await beckon.invoke(agent, "/call down {}")).body;
  expect(await spanOf(runId, "execute_tool down")).toMatchObject({
    status: 2,
    attributes: { "error.type": "tool_failed" },
  });
  expect(await spanOf(runId, "invoke_agent")).toMatchObject({ status: 0 });
});

test("a cancelled run is no error, but its model call has no answer", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { run_id: runId } = (await beckon.invoke(agent, prompt, { prefer: "respond-async" })).body;
  await held.reached(1);
  await beckon.call(`/runs/${runId}/cancel`, { method: "POST" });
  const run = await spanOf(runId, "invoke_agent");
  expect(run).toMatchObject({ status: 0, attributes: { "beckon.run.status": "cancelled" } });
  expect(run.attributes["error.type"]).toBeUndefined();
  expect(await spanOf(runId, "chat")).toMatchObject({
    status: 2,
    attributes: { "error.type": "cancelled" },
  });
});

test("a run that another process resumes has a second span in its trace, linked to the first", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const other = await beckon.another({ settings: { BECKON_DRAIN_SECONDS: "0" } });
  let runs = 0;
  const runId = await unqueued(async () => {
    const { body } = await beckon.call(`${other.url}/api/public/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: { input: prompt },
      headers: { prefer: "respond-async" },
    });
    await held.reached(++runs);
    return [body.run_id, other.executingRuns() === 1];
  });
  await other.stop();
  await held.reached(runs + 1);
  held.release();
  const [first, second] = await traces.await(ofRun(runId, "invoke_agent"), 2);
  expect(first?.attributes).toMatchObject({
    "beckon.run.status": "interrupted",
    "beckon.run.resumed": false,
  });
  expect(second).toMatchObject({
    parentSpanId: "",
    links: [{ traceId: first?.traceId, spanId: first?.spanId }],
    attributes: { "beckon.run.status": "succeeded", "beckon.run.resumed": true },
  });
});

test("a queued run has a span of its own, linked to the request that started it", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1 },
  });
  const start = async () =>
    (await beckon.invoke(agent, prompt, { prefer: "respond-async" })).body.run_id;
  await start();
  const queued = await start();
  held.release();
  const request = await spanOf(queued, invokeSpan);
  expect(await spanOf(queued, "invoke_agent")).toMatchObject({
    parentSpanId: "",
    links: [{ traceId: request.traceId, spanId: request.spanId }],
  });
});

test("an incoming traceparent is a link, and a malformed one is ignored", async () => {
  const agent = await beckon.createAgent();
  const request = async (traceparent: string) => {
    const { run_id: runId } = (await beckon.invoke(agent, prompt, { traceparent })).body;
    return spanOf(runId, invokeSpan);
  };
  expect(await request(parent)).toMatchObject({
    parentSpanId: "",
    links: [{ traceId: parentTrace, spanId: parentSpan }],
  });
  for (const malformed of [`${parent}-more`, "00-0-0-01", `ff${parent.slice(2)}`])
    expect(await request(malformed)).toMatchObject({ parentSpanId: "", links: [] });
});

test("a trusted traceparent is the parent, and its sampling decision is passed on", async () => {
  const agent = await beckon.createAgent({ tools: [httpTool("read", {})] });
  const other = await beckon.another({ settings: { BECKON_TRUST_PROXY: "1" } });
  const invoke = (traceparent: string) =>
    unqueued(async () => {
      const { body } = await beckon.call(`${other.url}/api/public/agents/${agent.id}/invoke`, {
        credential: agent.token,
        body: { input: "/call read {}" },
        headers: { traceparent },
      });
      const sent = String(target.reached.at(-1)?.headers.traceparent);
      return [body.run_id, sent.startsWith(`00-${parentTrace}`)];
    });
  const unsampled = await invoke(`${parent.slice(0, -2)}00`);
  expect(target.reached.at(-1)?.headers.traceparent).toMatch(/-00$/);
  const sampled = await invoke(parent);
  expect(target.reached.at(-1)?.headers.traceparent).toMatch(/-01$/);
  // The stop of the process exports all its spans.
  await other.stop();
  const isOf = (runId: string) => (span: ReceivedSpan) =>
    span.attributes["beckon.run.id"] === runId;
  const spans = await traces.await(isOf(sampled), 2);
  const run = spans.find(({ name }) => name.startsWith("invoke_agent"));
  const request = spans.find(({ name }) => name === invokeSpan);
  expect([request?.traceId, request?.parentSpanId]).toEqual([parentTrace, parentSpan]);
  expect(run).toMatchObject({ traceId: parentTrace, parentSpanId: request?.spanId });
  expect(request?.links).toEqual([{ traceId: uuidOf(sampled), spanId: run?.spanId }]);
  expect(traces.spans.filter(isOf(unsampled))).toEqual([]);
});

test("spans that cannot be exported are logged once, and requests do not notice", async () => {
  const agent = await beckon.createAgent();
  traces.status = 400;
  const { status: first } = await beckon.invoke(agent, prompt);
  await eventually("the line", () => named("spans could not be exported")[0]);
  const { status: second } = await beckon.invoke(agent, prompt);
  traces.status = 200;
  const { run_id: runId } = (await beckon.invoke(agent, prompt)).body;
  await spanOf(runId, "invoke_agent");
  expect([first, second]).toEqual([200, 200]);
  expect(named("spans could not be exported")).toMatchObject([{ level: "warn", count: 1 }]);
  expect(JSON.stringify(named("spans could not be exported"))).not.toContain("collector-secret");
});

test("no span has a secret, a prompt, an output, a path or a query, and probes have no span", async () => {
  const trigger = await beckon.createTrigger((await beckon.createAgent()).id);
  const { body } = await beckon.call(trigger.url, { credential: null, body: prompt });
  await beckon.call(`${beckon.url}/healthz`);
  await spanOf(body.run_id, "invoke_agent");
  expect(await spanOf(body.run_id, "POST /api/public/triggers/:token")).toBeDefined();
  const all = Buffer.concat(traces.bytes).toString("latin1");
  for (const secret of [...secrets, trigger.token, "bka_", "bkt_", "/hook", "?token", "/healthz"])
    expect([secret, all.includes(secret)]).toEqual([secret, false]);
  expect(traces.headers.every((each) => each["x-collector"] === "collector-secret")).toBe(true);
});
