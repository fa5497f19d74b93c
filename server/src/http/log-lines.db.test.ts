import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog, type LoggedLine } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, says, startModelServer, status } from "../../test/model-server.ts";
import { rawExchange } from "../../test/raw-exchange.ts";
import { openStream } from "../../test/read-stream.ts";
import { startReceiver } from "../../test/receiver.ts";
import { subscribe } from "../../test/subscribe.ts";
import { unknownCredential } from "../../test/unknown-credential.ts";
import { logLines } from "../base/logging/index.ts";

const { log, lines, named } = captureLog();
const beckon = await startTestBeckon({ BECKON_RETRY_SCHEDULE: "0,0" }, { log });
const models = await startModelServer();
const receiver = await startReceiver();
afterAll(() => Promise.all([models.close(), receiver.close()]));
await beckon.createProvider(models.url, "scripted");
beforeEach(() => {
  lines.length = 0;
  models.reset();
});

const endOf = (runId: string): Promise<LoggedLine> =>
  eventually("the line of the run's end", () =>
    named("run ended").find(({ run_id }) => run_id === runId),
  );
const requestsOf = (route: string) =>
  eventually(`the line of a request to ${route}`, () => {
    const found = named("request").filter((line) => line.route === route);
    return found.length > 0 ? found : undefined;
  });

test("a run that succeeds writes one line for its request and one for its end", async () => {
  const agent = await beckon.createAgent({ model: "scripted/scripted" });
  lines.length = 0;
  models.script([says("Hi")]);
  const { headers, body } = await beckon.invoke(agent, "a private input");
  expect(await endOf(body.run_id)).toEqual({
    level: "info",
    time: expect.any(String),
    area: "runs",
    run_id: body.run_id,
    agent_id: agent.id,
    status: "succeeded",
    duration_ms: expect.any(Number),
    steps: 1,
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
    msg: "run ended",
  });
  expect(await requestsOf("/api/public/agents/:agent_id/invoke")).toEqual([
    {
      level: "info",
      time: expect.any(String),
      area: "http",
      method: "POST",
      route: "/api/public/agents/:agent_id/invoke",
      status: 200,
      duration_ms: expect.any(Number),
      request_id: headers.get("beckon-request-id"),
      caller: "token",
      msg: "request",
    },
  ]);
  expect(lines).toHaveLength(2);
  expect(JSON.stringify(lines)).not.toContain("private");
});

test("a run that fails names its error code, and its provider's message is cut and escaped", async () => {
  const agent = await beckon.createAgent({ model: "scripted/scripted" });
  models.script(status(400, { body: `{"error":{"message":"\\u001b[2Jno ${"x".repeat(500)}"}}` }));
  const { body } = await beckon.invoke(agent, "Hello");
  expect(await endOf(body.run_id)).toMatchObject({
    agent_id: agent.id,
    status: "failed",
    error_code: "model_error",
    steps: 0,
  });
  const [line, ...more] = named("provider failed");
  expect(more).toEqual([]);
  expect(line).toMatchObject({ level: "warn", run_id: body.run_id, error_code: "model_error" });
  expect(line?.reason).not.toContain("\u001b");
  expect(line?.reason.length).toBeLessThan(320);
});

test("failures of one provider are one outage: further ones write no line of their own", async () => {
  await beckon.createProvider(models.url, "flaky");
  const agent = await beckon.createAgent({ model: "flaky/scripted" });
  models.script(status(400));
  lines.length = 0;
  for (let count = 0; count < 5; count++) await beckon.invoke(agent, "Hello");
  expect(named("run ended")).toHaveLength(5);
  expect(named("provider failed")).toHaveLength(1);
});

test("only a failed model call is a failure of its provider", async () => {
  const provider = await beckon.createProvider(models.url, "blameless");
  const agent = await beckon.createAgent({ model: "blameless/scripted" });
  models.script([says({ text: "Cut", finish: "content_filter" })]);
  const filtered = await beckon.invoke(agent, "Hello");
  const other = await beckon.createAgent({ model: "blameless/other" });
  // A provider can be deleted while runs that use it are queued.
  const deletion = "update providers set deleted_at = now() where id = $1";
  await beckon.db.database.engine.query(deletion, [provider.id]);
  const unprepared = await beckon.invoke(other, "Hello");
  for (const { body } of [filtered, unprepared])
    expect(await endOf(body.run_id)).toMatchObject({ error_code: "model_error" });
  expect(named("provider failed")).toEqual([]);
});

test("a run whose model call is retried, and a retry of a run, each write one end", async () => {
  const agent = await beckon.createAgent({ model: "scripted/scripted" });
  models.script([status(500), echo()]);
  const { body } = await beckon.invoke(agent, "Hello");
  expect(await endOf(body.run_id)).toMatchObject({ status: "succeeded", steps: 1 });
  const retried = await beckon.call(`/runs/${body.run_id}/retry`, { method: "POST" });
  expect(await endOf(retried.body.data.id)).toMatchObject({ agent_id: agent.id });
  expect(named("run ended").map(({ run_id }) => run_id)).toEqual([
    body.run_id,
    retried.body.data.id,
  ]);
});

test("a cancelled run writes its end, whether it was executing or queued", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const start = async (input: string): Promise<string> =>
    (await beckon.invoke(agent, input, { prefer: "respond-async" })).body.run_id;
  const executing = await start("executing");
  await held.reached(1);
  const queued = [await start("queued"), await start("queued too")];
  await beckon.call(`/runs/${queued[0]}/cancel`, { method: "POST" });
  await beckon.call("/runs/cancel", { body: { filter: { agent_id: agent.id } } });
  for (const runId of [executing, ...queued])
    expect(await endOf(runId)).toMatchObject({ status: "cancelled", error_code: "cancelled" });
  expect(named("run ended")).toHaveLength(3);
});

test("a stream writes the line of its request when it ends", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const stream = await openStream(`${beckon.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    headers: { "content-type": "application/json" },
  });
  await held.reached(1);
  const route = "/api/public/agents/:agent_id/invoke";
  expect(named("request").filter((line) => line.route === route)).toEqual([]);
  stream.close();
  expect(await requestsOf(route)).toMatchObject([
    { status: 200, stream: true, disconnected: true },
  ]);
});

test.each([
  ["a key", "/agents", { credential: unknownCredential("bkw_") }, "key", "/api/public/agents"],
  ["a token", "/runs", { credential: unknownCredential("bka_") }, "token", "/api/public/runs"],
  [
    "a trigger's URL",
    `/triggers/${unknownCredential("bkt_")}`,
    { credential: null, body: {} },
    "trigger",
    "/api/public/triggers/:token",
  ],
  [
    "a password",
    "/sign-in",
    { credential: null, body: { email: "ada@example.com", password: "hunter2-hunter2" } },
    "password or link",
    "/api/public/sign-in",
  ],
  [
    "a password beside a key, which this route does not read,",
    "/sign-in",
    { body: { email: "ada@example.com", password: "hunter2-hunter2" } },
    "password or link",
    "/api/public/sign-in",
  ],
])(
  "%s that is rejected writes its kind, route and address, and not itself",
  async (_what, path, options, kind, route) => {
    const { status, headers } = await beckon.call(path, options);
    expect(status).toBe(401);
    const [line] = await eventually("the line", () => {
      const found = named("credential rejected");
      return found.length > 0 ? found : undefined;
    });
    expect(line).toEqual({
      level: "warn",
      time: expect.any(String),
      area: "auth",
      kind,
      route,
      address: "127.0.0.1",
      request_id: headers.get("beckon-request-id"),
      msg: "credential rejected",
    });
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|bk[awt]_[0-9a-zA-Z]/);
  },
);

test("a request without a credential, and one that Node's parser rejects, write only their requests", async () => {
  expect((await beckon.call("/agents", { credential: null })).status).toBe(401);
  await requestsOf("/api/public/agents");
  await rawExchange(beckon.url, Buffer.from("GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n"));
  expect(await requestsOf("none")).toMatchObject([{ status: 400, method: "none" }]);
  expect(named("credential rejected")).toEqual([]);
});

test("a client that resets its connection is reported as disconnected, and not as malformed", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  lines.length = 0;
  const { hostname, port } = new URL(beckon.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const body = JSON.stringify({ input: "Hello" });
  socket.write(
    `POST /api/public/agents/${agent.id}/invoke HTTP/1.1\r\nhost: x\r\nx-api-key: ${agent.token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await held.reached(1);
  socket.resetAndDestroy();
  const [line] = await requestsOf("/api/public/agents/:agent_id/invoke");
  expect(line).toMatchObject({ method: "POST", disconnected: true });
  expect(line).not.toHaveProperty("status");

  const idle = connect(Number(port), hostname);
  idle.on("error", () => {});
  idle.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n");
  await once(idle, "data");
  idle.resetAndDestroy();
  await beckon.call("/agents");
  await requestsOf("/api/public/agents");
  expect(named("request").filter(({ route }) => route === "none")).toEqual([]);
});

test("a header that Beckon does not read is no credential, so none is reported as rejected", async () => {
  const headers = { authorization: "Bearer bkw_x", cookie: "other=1" };
  expect((await beckon.call("/agents", { credential: null, headers })).status).toBe(401);
  expect(await requestsOf("/api/public/agents")).toMatchObject([{ status: 401, caller: "none" }]);
  expect(named("credential rejected")).toEqual([]);
});

test("a failed delivery writes one line, until the receiver accepts deliveries again", async () => {
  receiver.respond = (_request, response) => response.writeHead(500).end("a private response");
  const { id } = await subscribe(beckon.db.database.engine, beckon.config.masterKey, {
    url: receiver.url,
    eventTypes: ["run.finished"],
  });
  const agent = await beckon.createAgent();
  await beckon.invoke(agent, "Hello");
  await receiver.awaitCount(2);
  const [line] = await eventually("the line of the delivery", () => {
    const found = named("delivery failed");
    return found.length > 0 ? found : undefined;
  });
  expect(line).toEqual({
    level: "warn",
    time: expect.any(String),
    area: "deliveries",
    delivery_id: expect.any(String),
    subscription_id: id,
    attempt: 1,
    final: false,
    status: 500,
    duration_ms: expect.any(Number),
    reason: "The receiver responded with status 500.",
    count: 1,
    msg: "delivery failed",
  });
  expect(named("delivery failed")).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toMatch(/private|hook/);
});

test("a process writes its start and its stop", async () => {
  const second = captureLog("info");
  const other = await beckon.another({ log: second.log, processId: "prc_other" });
  await other.stop();
  expect(second.lines).toMatchObject([
    { msg: "process started", process_id: "prc_other", role: "all", pid: process.pid },
    { msg: "process stopping", process_id: "prc_other", runs: 0 },
    { msg: "process stopped", process_id: "prc_other", uptime_seconds: expect.any(Number) },
  ]);
});

test("every line that was written has only the fields of its declaration", () => {
  const common = ["level", "time", "area", "msg"];
  for (const { msg, ...line } of lines) {
    const { fields } = logLines[msg as keyof typeof logLines];
    expect(Object.keys(line).filter((name) => !(name in fields) && !common.includes(name))).toEqual(
      [],
    );
  }
});
