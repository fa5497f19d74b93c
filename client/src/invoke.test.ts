import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { Readable } from "node:stream";
import { expect, test, vi } from "vitest";
import {
  disconnects,
  type Handler,
  neverResponds,
  type Received,
  rejects,
  responds,
  startScriptedServer,
} from "../test/scripted-server.ts";
import { createClient } from "./client.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url });
const token = "bka_secret";
const done = responds(200, { ok: true, run_id: "run_1", output: "Hello" });
const stillRunning = responds(202, { ok: true, run_id: "run_1", status: "running" });

/** Returns the seconds in the request's `Prefer: wait`. */
const secondsOf = ({ headers }: Received) => Number(/wait=(\d+)/.exec(`${headers.prefer}`)?.[1]);

/** Responds after the time in the request's `Prefer: wait`. */
const afterWait =
  (handler: Handler): Handler =>
  (response, request) =>
    void setTimeout(() => handler(response, request), 1_000 * secondsOf(request));

test("a long invoke is repeated with the same Idempotency-Key until it returns the output", async () => {
  server.script(afterWait(stillRunning), afterWait(stillRunning), done);
  expect(await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 })).toEqual({
    run_id: "run_1",
    output: "Hello",
  });
  const [first, ...more] = server.requests;
  expect(first?.headers).toMatchObject({
    prefer: "wait=1",
    "x-api-key": token,
    "idempotency-key": expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(more.map(({ headers, body }) => [headers["idempotency-key"], body])).toEqual(
    more.map(() => [first?.headers["idempotency-key"], '{"input":"Hello"}']),
  );
});

test("a body and tags that the caller changes during the wait are repeated as they were", async () => {
  server.script(afterWait(stillRunning), done);
  const body = { input: "Hello" };
  const tags = ["billing"];
  const invoked = beckon.agents.invoke("agt_1", body, { token, wait: 1, tags });
  body.input = "Changed";
  tags.push("changed");
  await invoked;
  expect(server.requests.map((sent) => [sent.body, sent.headers["beckon-tags"]])).toEqual([
    ['{"input":"Hello"}', "billing"],
    ['{"input":"Hello"}', "billing"],
  ]);
});

test("the caller's own id, tags and callback are sent with each attempt, and by a fire", async () => {
  const callback = "https://example.com/hooks/Z%C3%BCrich?order=1";
  const labels = { externalId: "Zürich 100%", tags: ["a,b", "日本"], callback };
  const sent = {
    "beckon-external-id": "Z%C3%BCrich%20100%25",
    "beckon-tags": "a%2Cb,%E6%97%A5%E6%9C%AC",
    "beckon-callback": callback,
  };
  server.script(afterWait(stillRunning), done);
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1, ...labels });
  expect(server.requests.map(({ headers }) => headers)).toMatchObject([sent, sent]);
  server.script(stillRunning);
  await beckon.agents.start("agt_1", { input: "Hello" }, { token, ...labels });
  expect(server.requests[0]?.headers).toMatchObject(sent);
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  await beckon.triggers.fire("bkt_1", "Hello", labels);
  expect(server.requests[0]?.headers).toMatchObject(sent);
});

test("a call without an own id, tags and callback sends none of these headers", async () => {
  server.script(done);
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, tags: [] });
  const sent = Object.keys(server.requests[0]?.headers ?? {});
  expect(sent.filter((name) => name.startsWith("beckon-"))).toEqual([]);
});

test("one request waits less than the usual proxy timeout", async () => {
  server.script(done);
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token });
  expect(server.requests[0]?.headers.prefer).toBe("wait=50");
});

test("one request waits less than the 300 seconds after which fetch of Node.js ends it", async () => {
  server.script(done);
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 3_600 });
  expect(server.requests[0]?.headers.prefer).toBe("wait=240");
});

test("one request waits less than tryTimeout, after which its response counts as lost", async () => {
  for (const [tryTimeout, prefer] of [
    [30_000, "wait=29"],
    [2_000, "wait=1"],
    [1_500, "wait=0"],
  ] as const) {
    server.script(done);
    await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, tryTimeout });
    expect(server.requests[0]?.headers.prefer).toBe(prefer);
  }
});

test("a timeout too short for a wait still ends with the id of the run", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    server.script((response, request) => {
      vi.advanceTimersByTime(1_000 * secondsOf(request));
      stillRunning(response, request);
    });
    await expect(
      beckon.agents.invoke("agt_1", { input: "Hello" }, { token, timeout: 1_000 }),
    ).rejects.toMatchObject({ code: "timed_out", runId: "run_1" });
  } finally {
    vi.useRealTimers();
  }
});

test("an early response, from a server that is shutting down, is not followed by a busy loop", async () => {
  server.script(stillRunning, done);
  const began = performance.now();
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token });
  expect(performance.now() - began).toBeGreaterThan(490);
});

test("a run that fails later is thrown as an error with its code and id", async () => {
  server.script(
    afterWait(stillRunning),
    responds(500, { ok: false, error: "Too many steps.", code: "step_limit", run_id: "run_1" }),
  );
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 }),
  ).rejects.toMatchObject({
    code: "step_limit",
    runId: "run_1",
    message: "Too many steps.",
  });
});

test.each([
  ["succeeds", responds(200, { ok: true, run_id: "run_2", output: "Hello" })],
  ["continues", responds(202, { ok: true, run_id: "run_2", status: "running" })],
  ["fails", responds(500, { ok: false, error: "Failed.", code: "step_limit", run_id: "run_2" })],
])(
  "a repeat that starts a second run, which %s, is an error that names both",
  async (_, second) => {
    // The caller used this Idempotency-Key hours ago, and the server forgets it while the client
    // waits.
    const options = { token, wait: 1, idempotencyKey: "order 1" };
    server.script(afterWait(stillRunning), second);
    await expect(beckon.agents.invoke("agt_1", { input: "Hello" }, options)).rejects.toMatchObject({
      code: "unexpected_answer",
      runId: "run_1",
      message: expect.stringContaining("run_2"),
    });
    expect(server.requests).toHaveLength(2);
  },
);

test("a credential rejected while the run continues is an error that names the run", async () => {
  server.script(afterWait(stillRunning), rejects(401, "unauthorized"));
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 }),
  ).rejects.toMatchObject({
    code: "unauthorized",
    runId: "run_1",
  });
});

test("after the timeout, the error names the run that continues", async () => {
  server.script(afterWait(stillRunning));
  await expect(
    // The first response, which has the run's id, is sent after one second.
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1, timeout: 4_000 }),
  ).rejects.toMatchObject({
    code: "timed_out",
    runId: "run_1",
    message: expect.stringContaining("run_1 continues"),
  });
  server.script(neverResponds);
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, timeout: 100 }),
  ).rejects.toMatchObject({
    code: "timed_out",
    runId: undefined,
    idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test.each([
  ["a response", stillRunning, "run_1"],
  ["a lost connection, for example because the machine was suspended", disconnects, undefined],
] as const)(
  "after 23 hours and %s, an invoke is not repeated, because the Idempotency-Key can be forgotten",
  async (_, handler, runId) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      server.script((response, request) => {
        vi.setSystemTime(Date.now() + 23 * 3_600_000);
        handler(response, request);
      }, done);
      await expect(
        beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1, timeout: 999_999_000 }),
      ).rejects.toMatchObject({ code: "timed_out", runId });
      expect(server.requests).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  },
);

test("once its run is known, an invoke is retried more often than other calls", async () => {
  server.script(afterWait(stillRunning), disconnects, disconnects, done);
  expect(
    await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1, timeout: 20_000 }),
  ).toMatchObject({ output: "Hello" });
  const impatient = createClient({ url: server.url, retries: 1 });
  server.script(disconnects);
  await expect(
    impatient.agents.invoke("agt_1", { input: "Hello" }, { token }),
  ).rejects.toMatchObject({ code: "no_answer" });
  expect(server.requests).toHaveLength(2);
});

test("retries of the client also applies to an invoke that knows its run", async () => {
  const impatient = createClient({ url: server.url, retries: 0 });
  server.script(afterWait(stillRunning), disconnects, done);
  await expect(
    impatient.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 }),
  ).rejects.toMatchObject({ code: "no_answer", runId: "run_1" });
  expect(server.requests).toHaveLength(2);
});

const keyed = { token, retries: 1, idempotencyKey: "order 1" };
test.each([
  ["invoke", () => beckon.agents.invoke("agt_1", { input: "Hello" }, keyed)],
  ["start", () => beckon.agents.start("agt_1", { input: "Hello" }, keyed)],
  ["startAndWatch", () => beckon.agents.startAndWatch("agt_1", { input: "Hello" }, keyed)],
  ["fire", () => beckon.triggers.fire("bkt_1", "Hello", keyed)],
])("an error of %s says if it is not known whether the run was started", async (_, call) => {
  const unknown = {
    idempotencyKey: "order 1",
    message: expect.stringMatching(/\. It is not known whether the run was started\.$/),
  };
  const soon = { "retry-after": "0" };
  server.script(disconnects);
  await expect(call()).rejects.toMatchObject({ code: "no_answer", ...unknown });
  server.script(disconnects, rejects(429, "agent_busy", soon));
  await expect(call()).rejects.toMatchObject({ code: "agent_busy", ...unknown });
  server.script(disconnects, rejects(408, "bad_request"));
  await expect(call()).rejects.toMatchObject({ status: 408, ...unknown });
  server.script(rejects(503, "unavailable", soon));
  await expect(call()).rejects.toMatchObject({ code: "unavailable", ...unknown });
  server.script(rejects(500, "internal_error", { "beckon-request-id": "0123" }));
  const failed = { code: "internal_error", requestId: "0123", ...unknown };
  await expect(call()).rejects.toMatchObject(failed);
  server.script(disconnects, rejects(409, "agent_paused"));
  const known = { idempotencyKey: undefined, message: expect.not.stringContaining("not known") };
  await expect(call()).rejects.toMatchObject({ code: "agent_paused", ...known });
  server.script(rejects(429, "agent_busy", soon));
  await expect(call()).rejects.toMatchObject({ code: "agent_busy", ...known });
  server.script(rejects(408, "bad_request"));
  await expect(call()).rejects.toMatchObject({ status: 408, ...known });
});

test("if no connection is made, the run was not started", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, "close");
  const client = createClient({ url: `http://127.0.0.1:${port}`, retries: 2 });
  const invoke = (timeout?: number) =>
    client.agents.invoke("agt_1", { input: "Hello" }, { token, timeout });
  await expect(invoke()).rejects.toMatchObject({
    code: "no_answer",
    idempotencyKey: undefined,
    message: expect.not.stringContaining("not known"),
  });
  attemptsAtFixedTimes();
  await expect(invoke(1_000)).rejects.toMatchObject({
    code: "timed_out",
    idempotencyKey: undefined,
    message: expect.stringMatching(/This call has not started it\. The last .+ ECONNREFUSED/),
    cause: { code: "no_answer" },
  });
});

/**
 * Makes pauses as long as they can be: attempts then start after 0, 0.5 and 1.5 s. A timeout of a
 * second ends the second pause, also on a busy machine.
 */
const attemptsAtFixedTimes = () => vi.spyOn(Math, "random").mockReturnValue(1);

const inTime = { ...keyed, retries: 5, timeout: 1_000 };
test.each([
  ["invoke", () => beckon.agents.invoke("agt_1", { input: "Hello" }, inTime)],
  ["start", () => beckon.agents.start("agt_1", { input: "Hello" }, inTime)],
  ["fire", () => beckon.triggers.fire("bkt_1", "Hello", inTime)],
])("a timeout of %s before another attempt names the last error", async (_, call) => {
  attemptsAtFixedTimes();
  server.script(rejects(429, "agent_busy", { "retry-after": "5" }));
  await expect(call()).rejects.toMatchObject({
    code: "timed_out",
    idempotencyKey: undefined,
    message: expect.stringMatching(/ The last attempt failed: Rejected with agent_busy\.$/),
    cause: { code: "agent_busy", retryAfter: 5 },
  });
  server.script(disconnects);
  await expect(call()).rejects.toMatchObject({
    code: "timed_out",
    idempotencyKey: "order 1",
    message: expect.stringContaining("not known"),
    cause: { code: "no_answer" },
  });
});

test("an invoke says once which run it has started, and its errors then name it", async () => {
  const started: string[] = [];
  const options = {
    ...keyed,
    wait: 1,
    onStarted: (runId: string) => void started.push(runId),
  };
  server.script(afterWait(stillRunning), afterWait(stillRunning), disconnects);
  await expect(beckon.agents.invoke("agt_1", { input: "Hello" }, options)).rejects.toMatchObject({
    runId: "run_1",
    idempotencyKey: undefined,
    message: expect.not.stringContaining("not known"),
  });
  expect(started).toEqual(["run_1"]);
});

test("start does not wait for the run", async () => {
  server.script(responds(202, { ok: true, run_id: "run_1", status: "queued" }));
  expect(await beckon.agents.start("agt_1", { input: "Hello" }, { token })).toEqual({
    run_id: "run_1",
    status: "queued",
  });
  expect(server.requests[0]?.headers.prefer).toBe("respond-async");
});

test.each([0, 1.5, -1])("a wait of %j seconds is rejected", async (wait) => {
  await expect(beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait })).rejects.toThrow(
    TypeError,
  );
});

test("a tryTimeout that ends before a request can wait for the run is rejected", async () => {
  const { length } = server.requests;
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, tryTimeout: 1_000 }),
  ).rejects.toThrow("tryTimeout must be above 1000 ms");
  expect(server.requests).toHaveLength(length);
});

test.each([
  [{ order: 1 }, "application/json", '{"order":1}'],
  ["Hello", "text/plain", "Hello"],
  [undefined, undefined, ""],
  [
    new Blob(['{"order":9007199254740993}'], { type: "application/json" }),
    "application/json",
    '{"order":9007199254740993}',
  ],
  [new Blob(["Hello"]), "text/plain", "Hello"],
])("a trigger is fired with %j, without the client's credential", async (payload, type, body) => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const client = createClient({ url: server.url, key: "bkw_secret" });
  expect(await client.triggers.fire("bkt_token", payload)).toEqual({ run_id: "run_1" });
  expect(server.requests[0]).toMatchObject({ path: "/api/public/triggers/bkt_token", body });
  expect(server.requests[0]?.headers["content-type"]).toBe(type);
  expect(server.requests[0]?.headers["x-api-key"]).toBeUndefined();
});

test.each([
  new Uint8Array([1]),
  Buffer.from("{}"),
  new ArrayBuffer(1),
  new URLSearchParams({ order: "1" }),
  new ReadableStream(),
  Readable.from(["x"]),
  new Set([1]),
  [1].values(),
  Promise.resolve({ order: 1 }),
  new Request(server.url, { method: "POST", body: "{}" }),
  Response.json({ order: 1 }),
  new Headers({ order: "1" }),
  new TypeError("failed"),
  // A form of a library.
  Object.assign(new (class FormData {})(), { [Symbol.toStringTag]: "FormData" }),
  () => ({ order: 1 }),
])("a trigger is not fired with a payload whose content would be lost (%#)", async (payload) => {
  const { length } = server.requests;
  await expect(beckon.triggers.fire("bkt_token", payload)).rejects.toThrow(/as a Blob/);
  expect(server.requests).toHaveLength(length);
});

test.each([
  ["an array", [1], "[1]"],
  ["null", null, "null"],
  ["an error that says how it is JSON", Object.assign(new Error(), { toJSON: () => 1 }), "1"],
  ["an object of a class", Object.assign(new (class Order {})(), { next: 1 }), '{"next":1}'],
])("a trigger is fired with %s as JSON", async (_, payload, body) => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  await beckon.triggers.fire("bkt_token", payload);
  expect(server.requests).toMatchObject([
    { body, headers: { "content-type": "application/json" } },
  ]);
});

test("a form is sent as multipart, with the same bytes in each attempt", async () => {
  const fired = responds(200, { ok: true, run_id: "run_1" });
  server.script(rejects(503, "unavailable", { "retry-after": "0" }), fired);
  const form = new FormData();
  form.set("Name", "Ada");
  form.set("Notes", new Blob(["a,B"], { type: "text/csv" }), "Notes.csv");
  await beckon.triggers.fire("bkt_token", form);
  const [first, second] = server.requests;
  const headers = { "content-type": first?.headers["content-type"] ?? "" };
  const sent = await new Response(first?.body, { headers }).formData();
  expect(sent.get("Name")).toBe("Ada");
  expect(sent.get("Notes")).toMatchObject({ name: "Notes.csv", type: "text/csv", size: 3 });
  expect(second).toMatchObject({ body: first?.body, headers });
});

test("a fire that starts no run is skipped, and has no run id", async () => {
  server.script(responds(202, { ok: true, skipped: true }));
  expect(await beckon.triggers.fire("bkt_token", {})).toEqual({ run_id: "", skipped: true });
});

test("a trigger's URL takes precedence over the client's url", async () => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const elsewhere = createClient({ url: "http://127.0.0.1:9" });
  await elsewhere.triggers.fire(`${server.url}/beckon/api/public/triggers/bkt_token`);
  expect(server.requests[0]?.path).toBe("/beckon/api/public/triggers/bkt_token");
  await expect(elsewhere.triggers.fire("https://example.com/bkt_token")).rejects.toThrow(TypeError);
});

test("the client's headers are sent with a fire only to the origin of the client's url", async () => {
  const fired = responds(200, { ok: true, run_id: "run_1" });
  const headers = { authorization: "Bearer secret", "x-tenant": "one" };
  const trigger = `${server.url}/other/api/public/triggers/bkt_token`;
  const ownOrigin = createClient({ url: `${server.url}/beckon`, headers });
  for (const target of [trigger, "bkt_token"]) {
    server.script(fired);
    await ownOrigin.triggers.fire(target);
    expect(server.requests[0]?.headers).toMatchObject(headers);
  }
  const sameHost = server.url.replace("http:", "https:");
  const samePort = server.url.replace("127.0.0.1", "localhost");
  for (const url of ["http://127.0.0.1:9", sameHost, samePort]) {
    server.script(fired);
    await createClient({ url, headers }).triggers.fire(trigger, "Hello", { idempotencyKey: "1" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]?.headers).not.toHaveProperty("x-tenant");
    expect(server.requests[0]?.headers).toMatchObject({ "idempotency-key": "1" });
  }
});

test.each(["http://ada:hidden@", "http://hidden@"])(
  "a trigger's URL that begins with %j has a user, so it is rejected without a request",
  async (start) => {
    const { length } = server.requests;
    const trigger = `${server.url.replace("http://", start)}/api/public/triggers/bkt_secret`;
    const error = await beckon.triggers.fire(trigger).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain("must not have a user or password");
    expect(String(error)).not.toMatch(/hidden|secret/);
    expect(server.requests).toHaveLength(length);
  },
);

test("no error shows a trigger's token", async () => {
  server.script(disconnects);
  const error = await beckon.triggers
    .fire("bkt_secret", {}, { retries: 0 })
    .catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining("POST /triggers/{token}") });
  expect(String((error as Error).stack)).not.toContain("bkt_secret");
});
