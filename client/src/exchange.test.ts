import { expect, test, vi } from "vitest";
import { collect } from "../test/collect.ts";
import {
  disconnects,
  neverResponds,
  rejects,
  responds,
  startScriptedServer,
} from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import { BeckonError } from "./error.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url, key: "bkw_secret" });
const agent = { id: "agt_1", name: "Test" };
const good = responds(200, { ok: true, data: agent });
const made = responds(201, { ok: true, data: agent });
const soon = { "retry-after": "0" };

const failureOf = (call: Promise<unknown>): Promise<BeckonError> =>
  call.then(
    () => {
      throw new Error("it went well");
    },
    (thrown) => thrown,
  );

test("a call sends key, path and JSON body, and returns the response's data", async () => {
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

test("the caller's own parser can keep integers that JSON.parse rounds", async () => {
  const parse = (text: string) => JSON.parse(text.replaceAll(/\d{16,}/g, '"$&"'));
  const headers = { "content-type": "application/json" };
  server.script(responds(200, '{"ok":true,"data":[{"id":9007199254740993}],"next":null}', headers));
  expect(await collect(beckon.runs.listEvents("run_1", {}, { parse }))).toEqual([
    { id: "9007199254740993" },
  ]);
});

test("a 204 response returns undefined", async () => {
  server.script((response) => void response.writeHead(204).end());
  expect(await beckon.agents.delete("agt_1", { ifMatch: 3 })).toBeUndefined();
  expect(server.requests[0]?.headers["if-match"]).toBe("3");
});

test("an error response is thrown with its message, code, status, run, limit and request id", async () => {
  const limit = { scope: "agent", metric: "cost", used: 10, limit: 10 };
  const body = {
    ok: false,
    error: "It is spent.",
    code: "ceiling_reached",
    run_id: "run_1",
    limit,
  };
  const headers = { "retry-after": "7", "beckon-request-id": "0123" };
  server.script(responds(500, body, headers));
  const error = await failureOf(beckon.runs.get("run_1"));
  expect(error).toBeInstanceOf(BeckonError);
  expect({ ...error, message: error.message }).toEqual({
    name: "BeckonError",
    message: "It is spent.",
    code: "ceiling_reached",
    status: 500,
    runId: "run_1",
    retryAfter: 7,
    limit,
    requestId: "0123",
  });
  expect(server.requests).toHaveLength(1);
});

test("a creating POST is repeated with the same Idempotency-Key, which differs between calls", async () => {
  server.script(disconnects, rejects(502, "bad_gateway"), made, made);
  await beckon.agents.create({ name: "Test", model: "demo/echo" });
  await beckon.agents.create({ name: "Test", model: "demo/echo" });
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[0-9a-f]{32}$/)]);
  expect(keys[3]).not.toBe(keys[0]);
});

test.each([500, 520, 524, 530])(
  "a creating POST is repeated after the status %i of a proxy, which may have lost the response",
  async (status) => {
    server.script(responds(status, "<html>"), made);
    expect(await beckon.agents.create({ name: "Test", model: "demo/echo" })).toEqual(agent);
    expect(server.requests).toHaveLength(2);
  },
);

test("a creating POST is not repeated after an internal error of Beckon", async () => {
  server.script(rejects(500, "internal_error"), made);
  const failure = failureOf(beckon.agents.create({ name: "Test", model: "demo/echo" }));
  expect(await failure).toMatchObject({ code: "internal_error" });
  expect(server.requests).toHaveLength(1);
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
  ["a network error", disconnects],
  ["502", responds(502, "<html>")],
  ["503 without Retry-After", responds(503, "<html>")],
  ["504", responds(504, "<html>")],
  ["a proxy's 500", responds(500, "<html>")],
  ["a proxy's 520", responds(520, "<html>")],
  ["a proxy's 530", responds(530, "<html>")],
  ["a proxy's 408", responds(408, "<html>")],
])(
  "a POST without Idempotency-Key is not repeated after %s, as it may have been executed",
  async (_, handler) => {
    server.script(handler);
    await failureOf(beckon.runs.cancel("run_1"));
    expect(server.requests).toHaveLength(1);
  },
);

test.each([
  ["429", rejects(429, "agent_busy", soon)],
  ["503 with Retry-After", rejects(503, "unavailable", soon)],
  ["a 408 of Beckon", rejects(408, "bad_request")],
])("every call is repeated after %s, as it was not executed", async (_, handler) => {
  server.script(handler, good);
  expect(await beckon.runs.cancel("run_1")).toEqual(agent);
  expect(server.requests).toHaveLength(2);
});

test("a PATCH is repeated only without If-Match, which a repeat would no longer match", async () => {
  server.script(disconnects, good);
  await beckon.agents.update("agt_1", { name: "Test" });
  expect(server.requests).toHaveLength(2);
  server.script(disconnects, good);
  expect(
    await failureOf(beckon.agents.update("agt_1", { name: "Test" }, { ifMatch: "3" })),
  ).toMatchObject({ code: "no_answer" });
  expect(server.requests).toHaveLength(1);
});

test("a DELETE whose response was lost succeeds if its repeat gets a 404", async () => {
  server.script(disconnects, rejects(404, "not_found"));
  await beckon.keys.delete("key_1");
  server.script(rejects(404, "not_found"));
  expect(await failureOf(beckon.keys.delete("key_1"))).toMatchObject({ code: "not_found" });
});

test("a DELETE fails if its repeat gets a 404 that does not come from Beckon", async () => {
  server.script(responds(502, "bad gateway"), responds(404, "no such site"));
  expect(await failureOf(beckon.keys.delete("key_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 404,
  });
});

test("a 413 does not show that an attempt whose response was lost was not executed", async () => {
  server.script(disconnects, rejects(413, "too_large"));
  const call = beckon.agents.create({ name: "Test", model: "demo/echo" }, { idempotencyKey: "1" });
  expect(await failureOf(call)).toMatchObject({ code: "too_large", idempotencyKey: "1" });
});

test("a retry waits for Retry-After, and the error is thrown if that is too long", async () => {
  server.script(rejects(429, "agent_busy", { "retry-after": "1" }), good);
  const began = performance.now();
  await beckon.runs.get("run_1");
  expect(performance.now() - began).toBeGreaterThan(1_000);
  server.script(rejects(429, "too_many_requests", { "retry-after": "600" }), good);
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "too_many_requests",
    retryAfter: 600,
  });
});

test("no more attempts are made than the option retries allows", async () => {
  server.script(disconnects);
  const error = await failureOf(beckon.runs.get("run_1", { retries: 2 }));
  expect(error).toMatchObject({ code: "no_answer", status: undefined });
  expect(error.message).toContain("GET /runs/{run_id}");
  expect(server.requests).toHaveLength(3);
});

test("a truncated response counts as lost", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write('{"ok":true,"da', () => response.destroy());
  }, good);
  expect(await beckon.runs.get("run_1")).toEqual(agent);
});

test("an attempt that takes too long is repeated", async () => {
  server.script(neverResponds, good);
  expect(await beckon.runs.get("run_1", { tryTimeout: 100 })).toEqual(agent);
});

test("a call ends at its timeout and when its signal aborts", async () => {
  server.script(neverResponds);
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

test("a timeout above the longest time of a timer does not end the call at once", async () => {
  // `setTimeout` reduces a delay of 2 ** 31 ms or more to 1 ms. If the client did not limit the
  // delay, the call would time out before the second attempt begins.
  server.script(disconnects, good);
  expect(
    await beckon.runs.get("run_1", { timeout: Number.POSITIVE_INFINITY, tryTimeout: 2 ** 31 }),
  ).toEqual(agent);
});

test.each([
  ["agents.start", () => beckon.agents.start("agt_1", { input: "Hello" })],
  ["agents.startAndWatch", () => beckon.agents.startAndWatch("agt_1", { input: "Hello" })],
  ["runs.retry", () => beckon.runs.retry("run_1")],
  ["triggers.fire", () => beckon.triggers.fire("bkt_1", "Hello")],
])(
  "%s is not repeated 23 hours later, because the server can have forgotten the Idempotency-Key",
  async (_, call) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      server.script((response, request) => {
        // Simulates a machine that was suspended for 23 hours: the clock advances, but timers do
        // not.
        vi.setSystemTime(Date.now() + 23 * 3_600_000);
        disconnects(response, request);
      });
      expect(await failureOf(call())).toMatchObject({ code: "no_answer" });
      expect(server.requests).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  },
);

test("a response from a proxy is an error, whatever its status", async () => {
  server.script(responds(200, "<html>Sign in to the Wi-Fi</html>"));
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 200,
  });
  server.script(responds(418, "<html>"));
  expect(await failureOf(beckon.runs.get("run_1"))).toMatchObject({
    code: "unexpected_answer",
    status: 418,
  });
});

test.each([
  ["triggers.fire", () => beckon.triggers.fire("bkt_1")],
  ["agents.start", () => beckon.agents.start("agt_1", { input: "Hello" })],
  ["agents.invoke", () => beckon.agents.invoke("agt_1", { input: "Hello" }, { timeout: 5_000 })],
  ["agents.export", () => beckon.agents.export("agt_1")],
  ["runs.get", () => beckon.runs.get("run_1")],
  ["a list", () => collect(beckon.runs.list({}, { timeout: 5_000 }))],
])("%s does not take JSON of another server as Beckon's response", async (_, call) => {
  for (const body of [{ message: "accepted" }, { ok: true }, { data: [] }, null]) {
    server.script(responds(200, body));
    expect(await failureOf(call())).toMatchObject({
      code: "unexpected_answer",
      idempotencyKey: undefined,
    });
    expect(server.requests).toHaveLength(1);
  }
});

test.each([
  ["agents.revokeToken", () => beckon.agents.revokeToken("agt_1")],
  ["keys.delete", () => beckon.keys.delete("key_1")],
  ["agents.exportYaml", () => beckon.agents.exportYaml("agt_1")],
  ["usage.getCsv", () => beckon.usage.getCsv()],
  ["artifacts.get", () => beckon.artifacts.get("run_1", "art_1")],
  ["audit.export", () => collect(beckon.audit.export())],
])("%s does not take the response of a proxy as Beckon's", async (_, call) => {
  for (const headers of [{}, { "content-type": "text/plain" }]) {
    server.script(responds(200, '{"message":"Sign in to the Wi-Fi"}', headers));
    expect(await failureOf(call())).toMatchObject({ code: "unexpected_answer", status: 200 });
    expect(server.requests).toHaveLength(1);
  }
});

test.each([
  ["application/yaml", () => beckon.agents.exportYaml("agt_1")],
  ["text/csv; charset=utf-8; header=present", () => beckon.usage.getCsv()],
  ["image/png", async () => (await beckon.artifacts.get("run_1", "art_1")).text()],
])("the body of a response of Beckon with the media type %s is returned", async (type, call) => {
  server.script(responds(200, "body", { "content-type": type, "beckon-request-id": "0123" }));
  expect(await call()).toBe("body");
});

test.each([
  [
    "another origin",
    "https://b.example/triggers/bkt_1",
    " to https://b.example, ",
    "Use this origin",
  ],
  ["its own origin", `${server.url}/sign-in?next=bkt_1`, ", ", "Check the url"],
  ["a path", "/sign-in?next=bkt_1", ", ", "Check the url"],
  ["an invalid URL", "https://", ", ", "Check the url"],
])("a redirect to %s is not followed, so that no secret is sent elsewhere", async (...given) => {
  const [, location, target, advice] = given;
  server.script(responds(308, "", { location }));
  const failure = await failureOf(beckon.triggers.fire("bkt_1"));
  expect(failure).toMatchObject({ code: "unexpected_answer", status: 308 });
  expect(failure.message).toContain(`was redirected${target}and the client does not send`);
  expect(failure.message).toContain(advice);
  expect(failure.message).not.toContain("bkt_1");
  expect(server.requests).toHaveLength(1);
});

test.each(["", ".", ".."])(
  "a path value %j that would change the path is rejected before a request is sent",
  async (value) => {
    server.script(good);
    expect(await failureOf(beckon.agents.delete(value))).toBeInstanceOf(TypeError);
    expect(server.requests).toHaveLength(0);
  },
);

test("numbers of versions and events are passed as the API returns them", async () => {
  server.script(responds(200, { ok: true, data: { version: 3 } }));
  const { version } = await beckon.agents.get("agt_1");
  await beckon.versions.get("agt_1", version);
  await beckon.versions.get("agt_1", "2");
  await beckon.runs.getEvent("run_1", 12);
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/api/public/agents/agt_1",
    "/api/public/agents/agt_1/versions/3",
    "/api/public/agents/agt_1/versions/2",
    "/api/public/runs/run_1/events/12",
  ]);
});

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
  "a path value %d that is no safe integer is rejected before a request is sent",
  async (value) => {
    server.script(good);
    expect(await failureOf(beckon.versions.get("agt_1", value))).toBeInstanceOf(TypeError);
    expect(server.requests).toHaveLength(0);
  },
);

test("a key that is invalid in a header is rejected and not shown in the error", async () => {
  const error = await failureOf(beckon.runs.get("run_1", { key: "bkw_secret\nx" }));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).not.toContain("secret");
});

test.each([
  "beckon.example.com",
  "ftp://beckon.example.com",
  "https://beckon.example.com/?key=x",
  "",
])("createClient rejects the url %j", (url) => {
  expect(() => createClient({ url })).toThrow(TypeError);
});

test.each(["https://ada:bkw_secret@beckon.example.com", "https://bkw_secret@beckon.example.com"])(
  "createClient rejects the url %j, which has a user, with an error that does not contain it",
  (url) => {
    expect(() => createClient({ url })).toThrow("must not have a user or password");
    expect(() => createClient({ url })).not.toThrow("secret");
  },
);

test("an error of fetch that has the whole URL is shown without it", async () => {
  const fetch = (url: string | URL | Request) => Promise.reject(new Error(`Failed: ${url}`));
  const client = createClient({ url: server.url, fetch, retries: 0 });
  const error = await failureOf(client.triggers.fire("bkt_secret"));
  expect(error.message).toMatch(
    `POST /triggers/{token} got no response from ${server.url}: Failed: ${server.url}. `,
  );
});

test("the caller's own fetch is called without this, as the fetch of browsers needs it", async () => {
  const calledOn: unknown[] = [];
  async function fetch(this: unknown): Promise<Response> {
    calledOn.push(this);
    return Response.json({ ok: true, data: agent });
  }
  await createClient({ url: server.url, fetch, retries: 0 }).agents.get("agt_1");
  expect(calledOn).toEqual([undefined]);
});

test.each([
  ["a trailing slash", `${server.url}/tools/beckon/`],
  ["a scheme in capital letters", `${server.url.replace("http:", "HTTP:")}/tools/beckon`],
  ["spaces around it, as a file or a variable can have", ` ${server.url}/tools/beckon \n`],
])("a url with a path works with %s", async (_, url) => {
  server.script(good);
  await createClient({ url }).runs.get("run_1");
  expect(server.requests[0]?.path).toBe("/tools/beckon/api/public/runs/run_1");
});

test("a list requests pages only as far as it is read", async () => {
  server.script(
    responds(200, { ok: true, data: [1, 2], next: "a b" }),
    responds(200, { ok: true, data: [3], next: null }),
  );
  const list = beckon.runs.list({ limit: 2 });
  expect(await collect(list)).toEqual([1, 2, 3]);
  expect(server.requests.map(({ path }) => path)).toEqual([
    "/api/public/runs?limit=2",
    "/api/public/runs?limit=2&after=a+b",
  ]);
  server.script(responds(200, { ok: true, data: [1, 2], next: "x" }));
  for await (const _ of list) break;
  expect(server.requests).toHaveLength(1);
  expect(await list.page()).toEqual({ data: [1, 2], next: "x" });
});

test("JSON Lines are parsed one by one, however they are split into chunks", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/jsonl" });
    response.write('{"id":"ü', () => setImmediate(() => response.end('"}\n{"id":2}\n\n{"id":3}')));
  });
  expect((await collect(beckon.audit.export())).map(({ id }) => id)).toEqual(["ü", 2, 3]);
});

test("a call also ends at its timeout while JSON Lines are read", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/jsonl" }).write('{"id":1}\n');
  });
  const lines = beckon.audit.export({}, { timeout: 2_000 })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toEqual({ id: 1 });
  expect(await failureOf(lines.next())).toMatchObject({ code: "timed_out" });
});

test.each([
  ["their connection is lost", true],
  ["a proxy ends them", false],
])("truncated JSON Lines are an error if %s", async (_, isLost) => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "application/jsonl" });
    response.write('{"id":1}\n{"id', () => (isLost ? response.destroy() : response.end()));
  });
  expect(await failureOf(collect(beckon.audit.export()))).toMatchObject({
    code: "no_answer",
    message: "The response to GET /audit/export was truncated.",
  });
});

test("an error of the caller's own parser of JSON Lines is the cause of the error", async () => {
  server.script(responds(200, '{"id":1}\n', { "content-type": "application/jsonl" }));
  const cause = new Error("no such id");
  const parse = () => {
    throw cause;
  };
  const error = await failureOf(collect(beckon.audit.export({}, { parse })));
  expect([error.code, error.cause]).toEqual(["unexpected_answer", cause]);
});
