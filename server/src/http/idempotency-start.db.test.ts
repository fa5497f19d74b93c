import { describe, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { status as modelSays } from "../../test/model-server.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();

const runsOf = async (agentId: string) =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data.length;
const isReplay = ({ headers }: Answer) => headers.get("idempotency-replayed") === "true";
const fire = (url: string, payload: string, headers: Record<string, string>) =>
  beckon.call(url, { credential: null, body: payload, headers });

async function twice(send: () => Promise<Answer>): Promise<[Answer, Answer]> {
  return [await send(), await send()];
}

describe("a repeated invoke", () => {
  test("gets the result of the same run, and says so", async () => {
    const agent = await beckon.createAgent();
    const [first, second] = await twice(() =>
      beckon.invoke(agent, "Hello", { "idempotency-key": "k" }),
    );
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(await runsOf(agent.id)).toBe(1);
  });

  test("starts another run without a key", async () => {
    const agent = await beckon.createAgent();
    await twice(() => beckon.invoke(agent, "Hello"));
    expect(await runsOf(agent.id)).toBe(2);
  });

  test.each([
    ["one character", "k", "k"],
    ["255 characters", "k".repeat(255), "k".repeat(255)],
    ["255 characters in quotes", `"${"k".repeat(255)}"`, "k".repeat(255)],
    ["quotes only the first time", '"k"', "k"],
    ["quotes only the second time", "k", '"k"'],
    ["spaces and punctuation", "a b, c; d=é".replace("é", "~"), '"a b, c; d=~"'],
  ])("is recognised by a key of %s", async (_, key, again) => {
    const agent = await beckon.createAgent();
    const first = await beckon.invoke(agent, "Hello", { "idempotency-key": key });
    const second = await beckon.invoke(agent, "Hello", { "idempotency-key": again });
    expect(second.body.run_id).toBe(first.body.run_id);
  });

  test.each([
    ["empty", ""],
    ["empty in quotes", '""'],
    ["256 characters", "k".repeat(256)],
    ["256 characters in quotes", `"${"k".repeat(256)}"`],
    ["not ASCII", "\u00e9"],
  ])("with the invalid key %s is rejected", async (_, key) => {
    const answer = await beckon.invoke(await beckon.createAgent(), "Hello", {
      "idempotency-key": key,
    });
    expectError(answer, 400, "bad_request", /Idempotency-Key/);
  });

  test("is recognised for any caller", async () => {
    const agent = await beckon.createAgent();
    const first = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    const byKey = { id: agent.id, token: await insertKey(beckon, { scopes: ["agents:invoke"] }) };
    const second = await beckon.invoke(byKey, "Hello", { "idempotency-key": "k" });
    expect([second.body.run_id, isReplay(second)]).toEqual([first.body.run_id, true]);
  });

  test("of another agent is a new request", async () => {
    const [one, other] = [await beckon.createAgent(), await beckon.createAgent()];
    const first = await beckon.invoke(one, "Hello", { "idempotency-key": "k" });
    const second = await beckon.invoke(other, "Hello", { "idempotency-key": "k" });
    expect(isReplay(second)).toBe(false);
    expect(second.body.run_id).not.toBe(first.body.run_id);
  });

  test.each([
    ["another input", '{"input":"Other"}'],
    ["another serialisation of the same input", '{"input": "Hello"}'],
  ])("with %s is rejected with 422", async (_, body) => {
    const agent = await beckon.createAgent();
    const options = { credential: agent.token, headers: { "idempotency-key": "k" } };
    await beckon.call(`/agents/${agent.id}/invoke`, { ...options, body: '{"input":"Hello"}' });
    expectError(
      await beckon.call(`/agents/${agent.id}/invoke`, { ...options, body }),
      422,
      "idempotency_mismatch",
    );
    expect(await runsOf(agent.id)).toBe(1);
  });

  test("is answered while the agent is paused", async () => {
    const agent = await beckon.createAgent();
    const first = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    const second = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    expect([second.status, second.body, isReplay(second)]).toEqual([200, first.body, true]);
  });

  test("joins the run while it executes", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({ model: held.model });
    const send = () => beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    const first = send();
    await held.reached(1);
    const second = send();
    held.release();
    const answers = await Promise.all([first, second]);
    expect(answers[1].body).toEqual(answers[0].body);
    expect(answers.map(isReplay)).toEqual([false, true]);
    expect(held.requests.length).toBe(1);
  });

  test("of a failed run gets the same failure", async () => {
    const held = await startHeldModel(beckon, modelSays(400));
    held.release();
    const agent = await beckon.createAgent({ model: held.model });
    const [first, second] = await twice(() =>
      beckon.invoke(agent, "Hello", { "idempotency-key": "k" }),
    );
    expect(second.body).toEqual({
      ok: false,
      error: first.body.error,
      code: "model_error",
      run_id: first.body.run_id,
    });
    expect([second.status, isReplay(second)]).toEqual([500, true]);
  });

  test.each([
    ["respond-async", 202, { ok: true, status: "succeeded" }],
    ["wait=5", 200, { ok: true, output: "Hello" }],
  ])("gets the response that its own preference %s asks for", async (prefer, status, body) => {
    const agent = await beckon.createAgent();
    const first = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    const second = await beckon.invoke(agent, "Hello", { "idempotency-key": "k", prefer });
    expect([second.status, second.body]).toEqual([status, { ...body, run_id: first.body.run_id }]);
    expect([second.headers.get("preference-applied"), isReplay(second)]).toEqual([prefer, true]);
  });

  test("waits for the output although the first request did not", async () => {
    const agent = await beckon.createAgent();
    const first = await beckon.invoke(agent, "Hello", {
      "idempotency-key": "k",
      prefer: "respond-async",
    });
    const second = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    expect([second.status, second.body]).toEqual([
      200,
      { ok: true, run_id: first.body.run_id, output: "Hello" },
    ]);
  });

  test("at the same time starts one run", async () => {
    const agent = await beckon.createAgent();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => beckon.invoke(agent, "Hello", { "idempotency-key": "k" })),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size).toBe(1);
    expect(answers.filter((answer) => !isReplay(answer)).length).toBe(1);
    expect(await runsOf(agent.id)).toBe(1);
  });
});

describe("a rejected request does not bind the key:", () => {
  test("a bad body", async () => {
    const agent = await beckon.createAgent();
    await beckon.invoke(agent, "", { "idempotency-key": "k" });
    const answer = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });

  test("a pause", async () => {
    const agent = await beckon.createAgent();
    await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
    await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    await beckon.call(`/agents/${agent.id}/resume`, { method: "POST" });
    const answer = await beckon.invoke(agent, "Other", { "idempotency-key": "k" });
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });

  test("a full queue", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({
      model: held.model,
      limits: { max_concurrent_runs: 1, max_queued_runs: 1 },
    });
    const async = { prefer: "respond-async" };
    await beckon.invoke(agent, "executing", async);
    await held.reached(1);
    await beckon.invoke(agent, "queued", async);
    expectError(
      await beckon.invoke(agent, "refused", { ...async, "idempotency-key": "k" }),
      429,
      "agent_busy",
    );
    held.release();
    await held.reached(2);
    const answer = await beckon.invoke(agent, "Hello", { "idempotency-key": "k" });
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });
});

describe("a repeated fire", () => {
  const made = async () => {
    const agent = await beckon.createAgent();
    return { agent, trigger: await beckon.createTrigger(agent.id) };
  };

  test.each(["idempotency-key", "webhook-id"])(
    "is answered with the same run by its %s, and says so",
    async (header) => {
      const { agent, trigger } = await made();
      const [first, second] = await twice(() => fire(trigger.url, "Hello", { [header]: "msg_1" }));
      expect([second.status, second.body]).toEqual([200, first.body]);
      expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
      expect(await runsOf(agent.id)).toBe(1);
    },
  );

  test.each(["", "x".repeat(256)])("with the unusable webhook-id %j is a new fire", async (id) => {
    const { agent, trigger } = await made();
    const answers = await twice(() => fire(trigger.url, "Hello", { "webhook-id": id }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await runsOf(agent.id)).toBe(2);
  });

  test("uses its Idempotency-Key if it also has a webhook-id", async () => {
    const { agent, trigger } = await made();
    await fire(trigger.url, "Hello", { "idempotency-key": "a", "webhook-id": "same" });
    await fire(trigger.url, "Hello", { "idempotency-key": "b", "webhook-id": "same" });
    expect(await runsOf(agent.id)).toBe(2);
  });

  test("with an unusable Idempotency-Key is rejected although it has a webhook-id", async () => {
    const { trigger } = await made();
    const answer = await fire(trigger.url, "Hello", {
      "idempotency-key": "x".repeat(256),
      "webhook-id": "msg_1",
    });
    expectError(answer, 400, "bad_request", /Idempotency-Key/);
  });

  test("of another trigger of the agent is a new request", async () => {
    const { agent, trigger } = await made();
    const other = await beckon.createTrigger(agent.id);
    await fire(trigger.url, "Hello", { "idempotency-key": "k" });
    const answer = await fire(other.url, "Hello", { "idempotency-key": "k" });
    expect(isReplay(answer)).toBe(false);
  });

  test("and an invoke with the same key are two requests", async () => {
    const { agent, trigger } = await made();
    await fire(trigger.url, '{"input":"Hello"}', { "idempotency-key": "k" });
    const answer = await beckon.call(`/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: '{"input":"Hello"}',
      headers: { "idempotency-key": "k" },
    });
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });

  test("with another body is rejected with 422", async () => {
    const { trigger } = await made();
    await fire(trigger.url, "Hello", { "webhook-id": "msg_1" });
    expectError(
      await fire(trigger.url, "Other", { "webhook-id": "msg_1" }),
      422,
      "idempotency_mismatch",
    );
  });

  test("is answered while the trigger is disabled", async () => {
    const { agent, trigger } = await made();
    const first = await fire(trigger.url, "Hello", { "idempotency-key": "k" });
    await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}`, {
      method: "PATCH",
      body: { enabled: false },
    });
    const second = await fire(trigger.url, "Hello", { "idempotency-key": "k" });
    expect([second.status, second.body, isReplay(second)]).toEqual([200, first.body, true]);
  });

  test("is recognised after the trigger's token was rotated", async () => {
    const { agent, trigger } = await made();
    const first = await fire(trigger.url, "Hello", { "idempotency-key": "k" });
    const { data } = (
      await beckon.call(`/agents/${agent.id}/triggers/${trigger.id}/rotate`, { method: "POST" })
    ).body;
    const second = await fire(data.url, "Hello", { "idempotency-key": "k" });
    expect([second.body, isReplay(second)]).toEqual([first.body, true]);
  });
});
