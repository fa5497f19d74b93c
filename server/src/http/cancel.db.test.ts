import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();
const async = { prefer: "respond-async" };

const cancel = (runId: string, credential = beckon.key) =>
  beckon.call(`/runs/${runId}/cancel`, { method: "POST", credential });
const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;

async function executing() {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const { body } = await beckon.invoke(agent, "executing", async);
  await held.reached(1);
  return { held, agent, runId: body.run_id as string };
}

async function queued() {
  const { held, agent } = await executing();
  const { body } = await beckon.invoke(agent, "queued", async);
  return { held, agent, runId: body.run_id as string };
}

describe("a queued run", () => {
  test("ends immediately when it is cancelled", async () => {
    const { runId } = await queued();
    const { status, body } = await cancel(runId);
    expect([status, body]).toEqual([200, { ok: true, data: await runOf(runId) }]);
    expect(body.data).toMatchObject({
      status: "cancelled",
      output: null,
      error: { code: "cancelled", message: expect.stringMatching(/\w/) },
      started_at: null,
      finished_at: expect.any(String),
      usage: { input_tokens: 0, output_tokens: 0 },
    });
  });

  test("never reaches the model after it was cancelled", async () => {
    const { held, agent, runId } = await queued();
    await cancel(runId);
    held.release();
    await beckon.invoke(agent, "the next one");
    expect(held.requests.length).toBe(2);
  });

  test("frees its capacity in the queue when it is cancelled", async () => {
    const { agent, runId } = await queued();
    await beckon.call(`/agents/${agent.id}`, {
      method: "PATCH",
      body: { limits: { max_queued_runs: 1 } },
    });
    expect((await beckon.invoke(agent, "one more", async)).status).toBe(429);
    await cancel(runId);
    expect((await beckon.invoke(agent, "one more", async)).status).toBe(202);
  });
});

describe("an executing run", () => {
  test("ends soon after it is cancelled, although its model does not answer", async () => {
    const { runId } = await executing();
    const { status, body } = await cancel(runId);
    expect([status, body.data.id]).toEqual([200, runId]);
    const run = await eventually("the end of the run", async () => {
      const found = await runOf(runId);
      return found.finished_at === null ? undefined : found;
    });
    expect(run).toMatchObject({ status: "cancelled", output: null, error: { code: "cancelled" } });
  });

  test("sends the cancellation to callers that wait for it", async () => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({ model: held.model });
    const invoked = beckon.invoke(agent, "Hello");
    await held.reached(1);
    const { data } = (await beckon.call(`/agents/${agent.id}/runs`)).body;
    await cancel(data[0].id);
    const { status, body } = await invoked;
    expect(status).toBe(500);
    expect(body).toEqual({
      ok: false,
      error: expect.stringMatching(/\w/),
      code: "cancelled",
      run_id: data[0].id,
    });
  });

  test("can be cancelled repeatedly", async () => {
    const { runId } = await executing();
    const answers = await Promise.all([cancel(runId), cancel(runId), cancel(runId)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  test("has one end event in its journal however often it was cancelled", async () => {
    const { runId } = await executing();
    await Promise.all([cancel(runId), cancel(runId), cancel(runId)]);
    await eventually("the end of the run", async () =>
      (await runOf(runId)).finished_at === null ? undefined : true,
    );
    const { data } = (await beckon.call(`/runs/${runId}/events`)).body;
    expect(data.filter((event: { type: string }) => event.type === "run.cancelled").length).toBe(1);
    expect(data.at(-1).type).toBe("run.cancelled");
  });
});

test("a finished run is returned unchanged", async () => {
  const { body } = await beckon.invoke(await beckon.createAgent(), "Hello");
  const before = await runOf(body.run_id);
  const answer = await cancel(body.run_id);
  expect([answer.status, answer.body]).toEqual([200, { ok: true, data: before }]);
  expect(await runOf(body.run_id)).toEqual(before);
});

test("a finished run is returned without input and output to a key that cannot read runs", async () => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello");
  const { status, body: answer } = await cancel(
    body.run_id,
    await insertKey(beckon, { scopes: ["runs:write"] }),
  );
  expect([status, answer.data]).toMatchObject([
    200,
    { id: body.run_id, status: "succeeded", input: "", output: null },
  ]);
});

test("an agent token cancels a run of its agent", async () => {
  const { agent, runId } = await queued();
  const { status, body } = await cancel(runId, agent.token);
  expect([status, body.data.status]).toEqual([200, "cancelled"]);
});

test("accepted runs continue after pausing, disabling, revoking and deleting", async () => {
  const { agent, held, runId } = await executing();
  const { id: triggerId, url } = await beckon.createTrigger(agent.id);
  const { body: fired } = await beckon.call(url, { credential: null, body: "fired" });
  await beckon.call(`/agents/${agent.id}/triggers/${triggerId}`, {
    method: "PATCH",
    body: { enabled: false },
  });
  await beckon.call(`/agents/${agent.id}/triggers/${triggerId}`, { method: "DELETE" });
  await beckon.call(`/agents/${agent.id}/pause`, { method: "POST" });
  await beckon.call(`/agents/${agent.id}/token`, { method: "DELETE" });
  await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
  held.release();
  for (const id of [runId, fired.run_id]) {
    const output = await eventually(
      "the output",
      async () => (await runOf(id)).output ?? undefined,
    );
    expect(["executing", "fired"]).toContain(output);
  }
});
