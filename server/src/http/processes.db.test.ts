import { afterAll, expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";

/**
 * Two processes on one database. `api` only serves requests. `beckon` serves requests too, and
 * executes the runs that both accept.
 */

const beckon = await startTestBeckon();
const api = await beckon.another({ settings: { BECKON_ROLE: "api" } });
afterAll(() => api.stop());

test("a worker serves only its probes, and issues no link for the first owner", async () => {
  const worker = await beckon.another({ settings: { BECKON_ROLE: "worker" }, setup: true });
  onTestFinished(() => worker.stop());
  const at = async (path: string, method = "GET") => {
    const response = await fetch(worker.url + path, { method });
    return [response.status, await response.json()];
  };
  for (const probe of ["/healthz", "/readyz"]) expect(await at(probe)).toEqual([200, { ok: true }]);
  const rejected = {
    ok: false,
    code: "not_found",
    error: expect.stringContaining("BECKON_ROLE=worker"),
  };
  for (const path of ["/", "/docs", "/api/public/agents", "/nothing"])
    expect(await at(path)).toEqual([404, rejected]);
  expect(await at("/api/public/sign-in", "POST")).toEqual([404, rejected]);
  expect([worker.setupToken, worker.demo]).toEqual([null, null]);
});

const there = (path: string) => `${api.url}/api/public${path}`;
const isReplay = ({ headers }: Answer) => headers.get("idempotency-replayed") === "true";
const invokeThere = (
  agent: { id: string; token: string },
  input: string,
  headers: Record<string, string> = {},
) =>
  beckon.call(there(`/agents/${agent.id}/invoke`), {
    credential: agent.token,
    body: { input },
    headers,
  });

test("an invoke that one process accepts and another executes gets the output", async () => {
  const { status, body } = await invokeThere(await beckon.createAgent(), "Hello");
  expect([status, body]).toEqual([
    200,
    { ok: true, run_id: expect.stringMatching(/^run_/), output: "Hello" },
  ]);
});

test("an invoke that one process accepts and another executes gets the failure", async () => {
  const agent = await beckon.createAgent({ limits: { max_steps: 1 }, tools: [{ type: "clock" }] });
  const { status, body } = await invokeThere(agent, "/call clock {}");
  expect([status, body.code, body.run_id]).toEqual([
    500,
    "step_limit",
    expect.stringMatching(/^run_/),
  ]);
});

test("a fire that one process accepts is executed by the other", async () => {
  const { token } = await beckon.createTrigger((await beckon.createAgent()).id);
  const { body } = await beckon.call(there(`/triggers/${token}`), {
    credential: null,
    body: "Hello",
  });
  const output = await eventually(
    "the output",
    async () => (await beckon.call(`/runs/${body.run_id}`)).body.data.output ?? undefined,
  );
  expect(output).toBe("Hello");
});

test("a key that was used at one process is known to the other", async () => {
  const agent = await beckon.createAgent();
  const first = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
  const second = await invokeThere(agent, "Hello", { "idempotency-key": "k" });
  expect([second.status, second.body, isReplay(second)]).toEqual([200, first.body, true]);
});

test("a key that is sent to both processes at the same time starts one run", async () => {
  const agent = await beckon.createAgent();
  const headers = { "idempotency-key": "k" };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0
        ? beckon.invoke(agent, "Hello", headers)
        : invokeThere(agent, "Hello", headers),
    ),
  );
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size).toBe(1);
  expect(answers.filter((answer) => !isReplay(answer)).length).toBe(1);
});

test("a management response that one process has stored is returned by the other", async () => {
  const send = (url: string) =>
    beckon.call(url, {
      body: { name: "Test", model: "demo/echo" },
      headers: { "idempotency-key": "shared" },
    });
  const first = await send("/agents");
  const second = await send(there("/agents"));
  expect([second.status, second.body, isReplay(second)]).toEqual([201, first.body, true]);
});

test("a pause is in effect at the other process once it was acknowledged", async () => {
  const agent = await beckon.createAgent();
  await invokeThere(agent, "so that its token is known there");
  await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
  expectError(await invokeThere(agent, "Hello"), 409, "agent_paused");
});

test("a resumption is in effect at the other process once it was acknowledged", async () => {
  const agent = await beckon.createAgent();
  await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
  expectError(await invokeThere(agent, "Hello"), 409, "agent_paused");
  await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
  expect((await invokeThere(agent, "Hello")).status).toBe(200);
});

test("a revocation is in effect at the other process once it was acknowledged", async () => {
  const agent = await beckon.createAgent();
  await invokeThere(agent, "so that its token is known there");
  await beckon.call(`/agents/${agent.id}/token`, { method: "DELETE" });
  expectError(await invokeThere(agent, "Hello"), 401, "unauthorized");
});

test("a disabled trigger is disabled at the other process once that was acknowledged", async () => {
  const agent = await beckon.createAgent();
  const { id, token } = await beckon.createTrigger(agent.id);
  const fireThere = () =>
    beckon.call(there(`/triggers/${token}`), { credential: null, body: "Hello" });
  await fireThere();
  await beckon.call(`/agents/${agent.id}/triggers/${id}`, {
    method: "PATCH",
    body: { enabled: false },
  });
  expectError(await fireThere(), 409, "trigger_disabled");
});

test("the other process executes a changed agent in its new version", async () => {
  const agent = await beckon.createAgent();
  await invokeThere(agent, "so that its version is known");
  await beckon.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: { limits: { max_steps: 1 }, tools: [{ type: "clock" }] },
  });
  expect((await invokeThere(agent, "/call clock {}")).body.code).toBe("step_limit");
});

test("a run that the other process executes can be cancelled here", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = beckon.invoke(agent, "Hello");
  await held.reached(1);
  const { data } = (await beckon.call(there(`/agents/${agent.id}/runs`))).body;
  expect((await beckon.call(there(`/runs/${data[0].id}/cancel`), { method: "POST" })).status).toBe(
    200,
  );
  const { status, body } = await invoked;
  expect([status, body.code]).toEqual([500, "cancelled"]);
});

test("events that the other process writes are read here", async () => {
  const agent = await beckon.createAgent();
  const { body } = await invokeThere(agent, "Hello");
  const events = await beckon.call(there(`/runs/${body.run_id}/events`));
  expect(events.body.data.map((event: { type: string }) => event.type)).toEqual([
    "run.queued",
    "run.started",
    "run.step",
    "run.finished",
  ]);
});
