import { expect, test } from "vitest";
import { allOf } from "../test/all-of.ts";
import { cuts, isSilent, refuses, says, startScriptedServer } from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import { BeckonError } from "./error.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url, key: "bkw_secret" });
const agent = { id: "agt_1", name: "Test" };
const good = says(200, { ok: true, data: agent });
const made = says(201, { ok: true, data: agent });
const soon = { "retry-after": "0" };

const failureOf = (call: Promise<unknown>): Promise<BeckonError> =>
  call.then(
    () => {
      throw new Error("it went well");
    },
    (thrown) => thrown,
  );

test("a call sends the key, the path with its values and JSON, and gives the data of the answer", async () => {
  server.script(good);
  expect(await beckon.agents.update("agt/1?", { name: "Test" })).toEqual(agent);
  const [request] = server.requests;
  expect(request).toMatchObject({
    method: "PATCH",
    path: "/api/public/agents/agt%2F1%3F",
    body: '{"name":"Test"}',
  });
  expect(request?.headers).toMatchObject({
    "x-api-key": "bkw_secret",
    "content-type": "application/json",
    accept: "application/json",
  });
});

test("an answer of 204 gives nothing", async () => {
  server.script((response) => void response.writeHead(204).end());
  expect(await beckon.agents.delete("agt_1", { ifMatch: 3 })).toBeUndefined();
  expect(server.requests[0]?.headers["if-match"]).toBe("3");
});

test("a refusal is thrown with the server's words, its code, status and run", async () => {
  server.script(
    says(
      500,
      { ok: false, error: "The model failed.", code: "model_error", run_id: "run_1" },
      { "retry-after": "7" },
    ),
  );
  const error = await failureOf(beckon.runs.get("run_1"));
  expect(error).toBeInstanceOf(BeckonError);
  expect({ ...error, message: error.message }).toEqual({
    name: "BeckonError",
    message: "The model failed.",
    code: "model_error",
    status: 500,
    runId: "run_1",
    retryAfter: 7,
  });
  expect(server.requests).toHaveLength(1);
});

test("a POST that creates is repeated with one key, a different one for each call", async () => {
  server.script(cuts, refuses(502, "bad_gateway"), made, made);
  await beckon.agents.create({ name: "Test", model: "demo/echo" });
  await beckon.agents.create({ name: "Test", model: "demo/echo" });
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(keys[3]).not.toBe(keys[0]);
});

test("the caller's own Idempotency-Key is sent", async () => {
  server.script(made);
  await beckon.agents.create(
    { name: "Test", model: "demo/echo" },
    { idempotencyKey: "order-4711" },
  );
  expect(server.requests[0]?.headers["idempotency-key"]).toBe("order-4711");
});

test.each([
  ["a network error", cuts],
  ["502", says(502, "<html>")],
  ["503 without Retry-After", says(503, "<html>")],
  ["504", says(504, "<html>")],
])("a POST without a key is not repeated after %s, for it may have been done", async (_, turn) => {
  server.script(turn);
  await failureOf(beckon.runs.cancel("run_1"));
  expect(server.requests).toHaveLength(1);
});

test.each([
  ["429", refuses(429, "agent_busy", soon)],
  ["503 with Retry-After", refuses(503, "unavailable", soon)],
])("anything is repeated after %s, for it was not done", async (_, turn) => {
  server.script(turn, good);
  expect(await beckon.runs.cancel("run_1")).toEqual(agent);
  expect(server.requests).toHaveLength(2);
});

test("a PATCH is repeated, and with If-Match it is not, since its own first try would refuse it", async () => {
  server.script(cuts, good);
  await beckon.agents.update("agt_1", { name: "Test" });
  expect(server.requests).toHaveLength(2);
  server.script(cuts, good);
  expect(
    await failureOf(beckon.agents.update("agt_1", { name: "Test" }, { ifMatch: "3" })),
  ).toMatchObject({ code: "no_answer" });
  expect(server.requests).toHaveLength(1);
});

test("a DELETE whose answer was lost is done when its repeat finds nothing", async () => {
  server.script(cuts, refuses(404, "not_found"));
  await beckon.keys.delete("key_1");
  server.script(refuses(404, "not_found"));
  expect(await failureOf(beckon.keys.delete("key_1"))).toMatchObject({ code: "not_found" });
});

test("a refusal waits as long as Retry-After says, and is thrown when that is long", async () => {
  server.script(refuses(429, "agent_busy", { "retry-after": "1" }), good);
  const began = performance.now();
  await beckon.runs.get("run_1");
  expect(performance.now() - began).toBeGreaterThan(1_000);
  server.script(refuses(429, "too_many_requests", { "retry-after": "600" }), good);
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "too_many_requests",
    retryAfter: 600,
  });
});

test("there are as many tries as were asked for, and no more", async () => {
  server.script(cuts);
  const error = await failureOf(beckon.runs.get("run_1", { retries: 2 }));
  expect(error).toMatchObject({ code: "no_answer", status: undefined });
  expect(error.message).toContain("GET /runs/{run_id}");
  expect(server.requests).toHaveLength(3);
});

test("an answer that breaks off is one that was lost", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"ok":true,"da', () => response.destroy());
  }, good);
  expect(await beckon.runs.get("run_1")).toEqual(agent);
});

test("a try that takes too long is made again", async () => {
  server.script(isSilent, good);
  expect(await beckon.runs.get("run_1", { tryTimeout: 100 })).toEqual(agent);
});

test("a call ends when its time is over, and when its signal says so", async () => {
  server.script(isSilent);
  expect(await failureOf(beckon.runs.get("run_1", { timeout: 100 }))).toMatchObject({
    code: "timed_out",
  });
  const controller = new AbortController();
  const call = failureOf(beckon.runs.get("run_1", { signal: controller.signal }));
  controller.abort(new Error("enough"));
  expect(await call).toMatchObject({ message: "enough" });
  expect(await failureOf(beckon.runs.get("run_1", { signal: controller.signal }))).toMatchObject({
    message: "enough",
  });
});

test("what a proxy says in Beckon's place is told as such, and is no success", async () => {
  server.script(says(200, "<html>Sign in to the Wi-Fi</html>"));
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 200,
  });
  server.script(says(418, "<html>"));
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 418,
  });
});

test("a redirect is not followed, so that the key goes nowhere else", async () => {
  server.script(
    (response) => void response.writeHead(308, { location: `${server.url}/elsewhere` }).end(),
  );
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 308,
  });
  expect(server.requests).toHaveLength(1);
});

test.each(["", ".", ".."])(
  "a value %j that would make another path is refused before anything is sent",
  async (value) => {
    server.script(good);
    expect(await failureOf(beckon.agents.delete(value))).toBeInstanceOf(TypeError);
    expect(server.requests).toHaveLength(0);
  },
);

test("a key that HTTP cannot carry is refused without being shown", async () => {
  const error = await failureOf(beckon.runs.get("run_1", { key: "bkw_secret\nx" }));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).not.toContain("secret");
});

test.each([
  "beckon.example.com",
  "ftp://beckon.example.com",
  "https://beckon.example.com/?key=x",
  "",
])("the address %j is refused", (url) => {
  expect(() => createClient({ url })).toThrow(TypeError);
});

test("a Beckon below a path is reached, with or without a slash at its end", async () => {
  server.script(good);
  await createClient({ url: `${server.url}/tools/beckon/` }).runs.get("run_1");
  expect(server.requests[0]?.path).toBe("/tools/beckon/api/public/runs/run_1");
});

test("a list is read page by page, as far as it is used", async () => {
  server.script(
    says(200, { ok: true, data: [1, 2], next: "a b" }),
    says(200, { ok: true, data: [3], next: null }),
  );
  const list = beckon.runs.list({ limit: 2 });
  expect(await allOf(list)).toEqual([1, 2, 3]);
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/api/public/runs?limit=2",
    "/api/public/runs?limit=2&after=a+b",
  ]);
  server.script(says(200, { ok: true, data: [1, 2], next: "x" }));
  for await (const _ of list) break;
  expect(server.requests).toHaveLength(1);
  expect(await list.page()).toEqual({ data: [1, 2], next: "x" });
});

test("JSON Lines come one by one, whatever pieces they come in", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/jsonl" });
    response.write('{"id":"ü', () => setImmediate(() => response.end('"}\n{"id":2}\n\n{"id":3}')));
  });
  expect((await allOf(beckon.audit.export())).map(({ id }) => id)).toEqual(["ü", 2, 3]);
});

test("JSON Lines that break off are an error, not an end", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/jsonl" });
    response.write('{"id":1}\n{"id', () => response.destroy());
  });
  expect(await failureOf(allOf(beckon.audit.export()))).toMatchObject({ code: "no_answer" });
});
