import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startProxy, statement } from "../../test/proxy.ts";
import { eventTypesOf, statesOf } from "../../test/runs-of.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const proxy = await startProxy(beckon.db.url);
afterAll(() => proxy.close());

const async = { prefer: "respond-async" };
const retry = (
  runId: string,
  body?: unknown,
  headers: Record<string, string> = {},
  credential = beckon.key,
) =>
  beckon.call(`/runs/${runId}/retry`, {
    method: "POST",
    credential,
    headers,
    ...(body === undefined ? {} : { body }),
  });
const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;
const finished = (runId: string) =>
  eventually("the end of the run", async () => {
    const run = await runOf(runId);
    return run.finished_at === null ? undefined : run;
  });
const count = async (agentId: string): Promise<number> =>
  (await beckon.call(`/agents/${agentId}/runs?limit=200`)).body.data.length;

async function ended(input = "Hello") {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, input);
  return { agent, runId: body.run_id as string };
}

test("a retry is a new run with the same input, which refers to the original", async () => {
  const { agent, runId } = await ended();
  const { status, body, headers } = await retry(runId);
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/api/public/runs/${body.data.id}`);
  expect(body.data).toMatchObject({
    agent_id: agent.id,
    retry_of: runId,
    input: "Hello",
    source: "invoke",
    attempt: 1,
  });
  expect(body.data.id).not.toBe(runId);
  expect(await finished(body.data.id)).toMatchObject({
    status: "succeeded",
    output: "Hello",
    retry_of: runId,
  });
  expect(await eventTypesOf(beckon, body.data.id)).toEqual([
    "run.queued",
    "run.started",
    "run.step",
    "run.finished",
  ]);
  expect((await runOf(runId)).retry_of).toBeNull();
});

test("a retry of a trigger's run has its payload, prefix and content type, and refers to the trigger, even a disabled or deleted one", async () => {
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id, { prompt_prefix: "A payment:" });
  const { body: fired } = await beckon.call(trigger.url, { credential: null, body: { amount: 5 } });
  await finished(fired.run_id);
  await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`, {
    method: "PATCH",
    body: { prompt_prefix: "Other:", enabled: false },
  });
  const { body: one } = await retry(fired.run_id);
  await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`, { method: "DELETE" });
  const { body: two } = await retry(fired.run_id);
  for (const { data } of [one, two]) {
    expect(data).toMatchObject({
      input: 'A payment:\n\n{"amount":5}',
      source: "trigger",
      trigger_id: trigger.id,
      retry_of: fired.run_id,
    });
  }
  const { rows } = await beckon.db.database.engine.query(
    "select distinct payload, prompt_prefix, content_type from run_inputs where run_id = any ($1)",
    [[fired.run_id, one.data.id, two.data.id]],
  );
  expect(rows).toHaveLength(1);
});

test("a retry does not show the input and output to a key that cannot read runs", async () => {
  const { runId } = await ended("Hello");
  const key = await insertKey(beckon, { scopes: ["runs:write"] });
  const once = { "idempotency-key": "unseen" };
  const { status, body } = await retry(runId, undefined, once, key);
  expect([status, body.data]).toMatchObject([201, { retry_of: runId, input: "", output: null }]);
  expect(await finished(body.data.id)).toMatchObject({ input: "Hello", output: "Hello" });
  const repeated = await retry(runId, undefined, once, key);
  expect(repeated.body.data).toMatchObject({ status: "succeeded", input: "", output: null });
});

test("a retry is executed with the current version of the agent, or with the original one", async () => {
  const { agent, runId } = await ended();
  await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { description: "Changed" } });
  const versionOf = async (body?: unknown) => (await retry(runId, body)).body.data.agent_version;
  expect([await versionOf(), await versionOf({}), await versionOf({ version: "current" })]).toEqual(
    [2, 2, 2],
  );
  expect(await versionOf({ version: "original" })).toBe(1);
});

describe("a retry with another input", () => {
  test("has this input, and refers to the original, which keeps its own", async () => {
    const { runId } = await ended();
    const { status, body } = await retry(runId, { input: "Edited" });
    expect(status).toBe(201);
    expect(await finished(body.data.id)).toMatchObject({
      input: "Edited",
      output: "Edited",
      retry_of: runId,
    });
    expect((await runOf(runId)).input).toBe("Hello");
    const again = (await retry(body.data.id)).body.data;
    expect(again).toMatchObject({ input: "Edited", retry_of: body.data.id });
  });

  test("of a trigger's run has no prompt prefix beside it", async () => {
    const agent = await beckon.createAgent();
    const trigger = await beckon.createTrigger(agent.id, { prompt_prefix: "A payment:" });
    const { body: fired } = await beckon.call(trigger.url, { credential: null, body: { a: 5 } });
    await finished(fired.run_id);
    const { data } = (await retry(fired.run_id, { input: 'A refund:\n\n{"a":6}' })).body;
    expect(data).toMatchObject({
      input: 'A refund:\n\n{"a":6}',
      source: "trigger",
      trigger_id: trigger.id,
    });
  });

  test("needs agents:invoke as well as runs:write", async () => {
    const { agent, runId } = await ended();
    const keyWith = (...scopes: string[]) => insertKey(beckon, { scopes });
    const writing = await keyWith("runs:write");
    expectError(await retry(runId, { input: "x" }, {}, writing), 403, "forbidden", /agents:invoke/);
    const invoking = await keyWith("agents:invoke");
    expectError(await retry(runId, { input: "x" }, {}, invoking), 403, "forbidden", /runs:write/);
    expect(await count(agent.id)).toBe(1);
    const both = await keyWith("agents:invoke", "runs:write");
    expect((await retry(runId, { input: "x" }, {}, both)).status).toBe(201);
  });

  test("is in the audit log without the input", async () => {
    const { runId } = await ended();
    const { data } = (await retry(runId, { input: "Edited" })).body;
    const { body } = await beckon.call(`/audit?target=${data.id}`);
    expect(body.data).toMatchObject([
      { action: "run.retry", data: { retry_of: runId, version: "current", new_input: true } },
    ]);
  });

  test.each([[""], [1], [null], ["a\0b"]])("is rejected if that is %j", async (input) => {
    const { agent, runId } = await ended();
    expectError(await retry(runId, { input }), 400, "bad_request", /input/);
    expect(await count(agent.id)).toBe(1);
  });
});

test("a retry can be retried", async () => {
  const { runId } = await ended();
  const { body } = await retry(runId);
  await finished(body.data.id);
  expect((await retry(body.data.id)).body.data).toMatchObject({
    retry_of: body.data.id,
    input: "Hello",
  });
});

describe("a retry is rejected", () => {
  test("while the run has not ended, queued or executing", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({
      model: held.model,
      limits: { max_concurrent_runs: 1 },
    });
    const { body: running } = await beckon.invoke(agent, "executing", async);
    await held.reached(1);
    const { body: queued } = await beckon.invoke(agent, "waiting", async);
    for (const { run_id } of [running, queued])
      expectError(await retry(run_id), 409, "conflict", /not ended/);
    expect(await count(agent.id)).toBe(2);
  });

  test("while the agent is paused", async () => {
    const { agent, runId } = await ended();
    await beckon.call(`/agents/${agent.id}/pause`, { body: {} });
    expectError(await retry(runId), 409, "agent_paused");
    await beckon.call(`/agents/${agent.id}/resume`, { body: {} });
    expect((await retry(runId)).status).toBe(201);
  });

  test("when the agent was deleted, until it is restored", async () => {
    const { agent, runId } = await ended();
    await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
    expectError(await retry(runId), 409, "conflict", /deleted/);
    await beckon.call(`/agents/${agent.id}/restore`, { body: {} });
    expect((await retry(runId)).status).toBe(201);
  });

  test("when the agent's queue is full, with the limit and Retry-After", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({
      model: held.model,
      limits: { max_concurrent_runs: 1, max_queued_runs: 2 },
    });
    const { body: cancelled } = await beckon.invoke(agent, "cancelled", async);
    await beckon.call(`/runs/${cancelled.run_id}/cancel`, { method: "POST" });
    await finished(cancelled.run_id);
    await beckon.invoke(agent, "executing", async);
    await eventually("a run that executes", async () =>
      (await statesOf(beckon, agent.id)).running === 1 ? true : undefined,
    );
    expect([
      (await retry(cancelled.run_id)).status,
      (await retry(cancelled.run_id)).status,
    ]).toEqual([201, 201]);
    const answer = await retry(cancelled.run_id);
    expectError(answer, 429, "agent_busy");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answer.headers.get("ratelimit-policy")).toBe(
      '"queued-runs";q=2;qu="concurrent-requests"',
    );
    expect(await statesOf(beckon, agent.id)).toEqual({ cancelled: 1, running: 1, queued: 2 });
  });

  test("with an unknown field in its body", async () => {
    const { agent, runId } = await ended();
    expectError(await retry(runId, { version: "latest" }), 400, "bad_request", /version/);
    expectError(await retry(runId, { version: 1 }), 400, "bad_request", /version/);
    expect(await count(agent.id)).toBe(1);
  });

  test("for an agent's token, and for a key that is limited to other agents", async () => {
    const { agent, runId } = await ended();
    expectError(await retry(runId, {}, {}, agent.token), 403, "forbidden", /agent token/);
    const { agent: another } = await ended();
    const credential = await insertKey(beckon, { agentIds: [another.id] });
    expectError(await retry(runId, {}, {}, credential), 404, "not_found");
    expect(await count(agent.id)).toBe(1);
  });
});

test("a key that is limited to the agent can retry its runs", async () => {
  const { agent, runId } = await ended();
  expect(
    (
      await retry(
        runId,
        {},
        {},
        await insertKey(beckon, { agentIds: [agent.id], scopes: ["runs:write"] }),
      )
    ).status,
  ).toBe(201);
});

test("an agent's concurrency limit applies to retries", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const { body } = await beckon.invoke(agent, "cancelled", async);
  // Cancels the run only after the model has received its request. Otherwise this request could
  // arrive after the run has ended, and would be counted as the request of a retry.
  await held.reached(1);
  await beckon.call(`/runs/${body.run_id}/cancel`, { method: "POST" });
  await finished(body.run_id);
  for (let index = 0; index < 3; index++) await retry(body.run_id);
  await held.reached(2);
  expect(await statesOf(beckon, agent.id)).toEqual({ cancelled: 1, running: 1, queued: 2 });
});

describe("with an Idempotency-Key", () => {
  const key = { "idempotency-key": "once" };

  test("a retry is started once, and a repeat returns the current state of the run", async () => {
    const { agent, runId } = await ended();
    const first = await retry(runId, undefined, key);
    const run = await finished(first.body.data.id);
    const second = await retry(runId, undefined, key);
    expect([first.status, second.status, second.body.data]).toEqual([201, 201, run]);
    expect([first, second].map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([
      null,
      "true",
    ]);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(await count(agent.id)).toBe(2);
  });

  test("ten at once start one", async () => {
    const { agent, runId } = await ended();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => retry(runId, { version: "original" }, key)),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data.id}`)).size).toBe(1);
    expect(
      answers.filter(({ headers }) => headers.get("idempotency-replayed") === null),
    ).toHaveLength(1);
    expect(await count(agent.id)).toBe(2);
  });

  test("another body is rejected", async () => {
    const { runId } = await ended();
    await retry(runId, {}, key);
    expectError(await retry(runId, { version: "original" }, key), 422, "idempotency_mismatch");
  });

  test("retries of two runs, and by two callers, are separate", async () => {
    const [one, other] = [await ended(), await ended()];
    const credential = await insertKey(beckon);
    const answers = [
      await retry(one.runId, {}, key),
      await retry(other.runId, {}, key),
      await retry(one.runId, {}, key, credential),
    ];
    expect(
      answers.map(({ status, headers }) => [status, headers.get("idempotency-replayed")]),
    ).toEqual(Array(3).fill([201, null]));
  });

  test("a repeat is answered while the agent is paused, and a rejection binds no key", async () => {
    const { agent, runId } = await ended();
    await beckon.call(`/agents/${agent.id}/pause`, { body: {} });
    expectError(await retry(runId, {}, key), 409, "agent_paused");
    await beckon.call(`/agents/${agent.id}/resume`, { body: {} });
    const { body } = await retry(runId, {}, key);
    await beckon.call(`/agents/${agent.id}/pause`, { body: {} });
    expect((await retry(runId, {}, key)).body.data.id).toBe(body.data.id);
  });

  test("a repeat whose run was deleted gets an error, and starts nothing", async () => {
    const { agent, runId } = await ended();
    const { body } = await retry(runId, {}, key);
    await finished(body.data.id);
    expect((await beckon.call(`/runs/${body.data.id}`, { method: "DELETE" })).status).toBe(204);
    expectError(await retry(runId, {}, key), 409, "conflict", /was deleted/);
    expect(await count(agent.id)).toBe(1);
  });

  test("an invalid key is rejected", async () => {
    const { runId } = await ended();
    expectError(
      await retry(runId, {}, { "idempotency-key": "" }),
      400,
      "bad_request",
      /Idempotency-Key/,
    );
    expectError(await retry("run_none", {}, { "idempotency-key": "" }), 404, "not_found");
  });
});

test("a retry whose response was lost can be repeated, and starts one run", async () => {
  const far = await beckon.another({
    settings: {
      BECKON_ROLE: "api",
      BECKON_DRAIN_SECONDS: "0",
      DATABASE_URL: proxy.urlFor(beckon.db.url),
    },
  });
  onTestFinished(() => far.stop());
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "once");
  const headers = { "idempotency-key": "lost" };
  const cut = proxy.cutNext({ request: statement("start:keys:details"), pass: "nothing" });
  const send = () =>
    beckon.call(`${far.url}/api/public/runs/${body.run_id}/retry`, { method: "POST", headers });
  const answer = await send();
  await cut;
  expect(answer.status).toBe(201);
  const again = await send();
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect(again.body.data.id).toBe(answer.body.data.id);
  expect((await finished(answer.body.data.id)).output).toBe("once");
  const { rows } = await beckon.db.database.engine.query(
    "select id from runs where agent_id = $1",
    [agent.id],
  );
  expect(rows).toHaveLength(2);
});
