import { expect, test } from "vitest";
import {
  cuts,
  isSilent,
  refuses,
  says,
  startScriptedServer,
  type Turn,
} from "../test/scripted-server.ts";
import { createClient } from "./client.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url });
const token = "bka_secret";
const done = says(200, { ok: true, run_id: "run_1", output: "Hello" });
const goesOn = says(202, { ok: true, run_id: "run_1", status: "running" });

/** An answer after as long as the caller was willing to wait for one. */
const patiently =
  (turn: Turn): Turn =>
  (response, request) =>
    void setTimeout(
      () => turn(response, request),
      1_000 * Number(/wait=(\d+)/.exec(String(request.headers.prefer))?.[1]),
    );

test("an invoke that takes long is asked for again and again with one key, and gives its output", async () => {
  server.script(patiently(goesOn), patiently(goesOn), done);
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

test("one request waits less than the usual proxy does", async () => {
  server.script(done);
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token });
  expect(server.requests[0]?.headers.prefer).toBe("wait=50");
});

test("a server that answers early, because it is being stopped, is not asked again at once", async () => {
  server.script(goesOn, done);
  const began = performance.now();
  await beckon.agents.invoke("agt_1", { input: "Hello" }, { token });
  expect(performance.now() - began).toBeGreaterThan(490);
});

test("a run that failed later is an error with its code and its id", async () => {
  server.script(
    patiently(goesOn),
    says(500, { ok: false, error: "Too many steps.", code: "step_limit", run_id: "run_1" }),
  );
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 }),
  ).rejects.toMatchObject({
    code: "step_limit",
    runId: "run_1",
    message: "Too many steps.",
  });
});

test("a credential that is refused while the run goes on is an error that names the run", async () => {
  server.script(patiently(goesOn), refuses(401, "unauthorized"));
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1 }),
  ).rejects.toMatchObject({
    code: "unauthorized",
    runId: "run_1",
  });
});

test("when the caller's time is over, the error names the run that goes on", async () => {
  server.script(patiently(goesOn));
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, timeout: 2_200 }),
  ).rejects.toMatchObject({
    code: "timed_out",
    runId: "run_1",
    message: expect.stringContaining("run_1 goes on"),
  });
  server.script(isSilent);
  await expect(
    beckon.agents.invoke("agt_1", { input: "Hello" }, { token, timeout: 100 }),
  ).rejects.toMatchObject({
    code: "timed_out",
    runId: undefined,
  });
});

test("once its run is known, an invoke outlasts more cuts than other calls do", async () => {
  server.script(patiently(goesOn), cuts, cuts, done);
  expect(
    await beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait: 1, timeout: 20_000 }),
  ).toMatchObject({ output: "Hello" });
  const impatient = createClient({ url: server.url, retries: 1 });
  server.script(cuts);
  await expect(
    impatient.agents.invoke("agt_1", { input: "Hello" }, { token }),
  ).rejects.toMatchObject({ code: "no_answer" });
  expect(server.requests).toHaveLength(2);
});

test("a run that is only started is not waited for", async () => {
  server.script(says(202, { ok: true, run_id: "run_1", status: "queued" }));
  expect(await beckon.agents.start("agt_1", { input: "Hello" }, { token })).toEqual({
    run_id: "run_1",
    status: "queued",
  });
  expect(server.requests[0]?.headers.prefer).toBe("respond-async");
});

test.each([0, 1.5, -1])("a wait of %j seconds is refused", async (wait) => {
  await expect(beckon.agents.invoke("agt_1", { input: "Hello" }, { token, wait })).rejects.toThrow(
    TypeError,
  );
});

test.each([
  [{ order: 1 }, "application/json", '{"order":1}'],
  ["Hello", "text/plain", "Hello"],
  [undefined, undefined, ""],
])(
  "a trigger is fired with %j, without any credential of the client",
  async (payload, type, body) => {
    server.script(says(200, { ok: true, run_id: "run_1" }));
    const client = createClient({ url: server.url, key: "bkw_secret" });
    expect(await client.triggers.fire("bkt_token", payload)).toEqual({ run_id: "run_1" });
    expect(server.requests[0]).toMatchObject({ path: "/api/public/triggers/bkt_token", body });
    expect(server.requests[0]?.headers["content-type"]).toBe(type);
    expect(server.requests[0]?.headers["x-api-key"]).toBeUndefined();
  },
);

test("a trigger's URL leads to its own Beckon", async () => {
  server.script(says(200, { ok: true, run_id: "run_1" }));
  const elsewhere = createClient({ url: "http://127.0.0.1:9" });
  await elsewhere.triggers.fire(`${server.url}/beckon/api/public/triggers/bkt_token`);
  expect(server.requests[0]?.path).toBe("/beckon/api/public/triggers/bkt_token");
  await expect(elsewhere.triggers.fire("https://example.com/bkt_token")).rejects.toThrow(TypeError);
});

test("no error shows a trigger's token", async () => {
  server.script(cuts);
  const error = await beckon.triggers
    .fire("bkt_secret", {}, { retries: 0 })
    .catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ message: expect.stringContaining("POST /triggers/{token}") });
  expect(String((error as Error).stack)).not.toContain("bkt_secret");
});
