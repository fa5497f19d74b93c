import { describe, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startHeldModel } from "../../../test/held-model.ts";

const beckon = await startTestBeckon();

async function heldAgent() {
  const held = await startHeldModel(beckon);
  return { held, agent: await beckon.createAgent({ model: held.model }) };
}

describe("Prefer: respond-async", () => {
  test("is answered at once with 202, the run's id and its status", async () => {
    const { agent } = await heldAgent();
    const { status, body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    expect(status).toBe(202);
    expect(body).toEqual({
      ok: true,
      run_id: expect.stringMatching(/^run_/),
      status: expect.stringMatching(/^(queued|running)$/),
    });
  });

  test("says where the run is to be found", async () => {
    const { agent, held } = await heldAgent();
    const { headers, body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    expect(headers.get("location")).toBe(`/api/public/runs/${body.run_id}`);
    held.release();
    const run = await eventually("the end of the run", async () => {
      const answer = await beckon.call(new URL(headers.get("location") ?? "", beckon.url).href, {
        credential: agent.token,
      });
      return answer.body.data.finished_at === null ? undefined : answer.body.data;
    });
    expect(run).toMatchObject({ status: "succeeded", output: "Hello" });
  });

  test("is said to have been applied", async () => {
    const { headers } = await beckon.invoke(await beckon.createAgent(), "Hello", {
      prefer: "Respond-Async",
    });
    expect(headers.get("preference-applied")).toBe("respond-async");
  });
});

describe("Prefer: wait=N", () => {
  test("is answered with the output of a run that is over in time", async () => {
    const { status, body, headers } = await beckon.invoke(await beckon.createAgent(), "Hello", {
      prefer: "wait=20",
    });
    expect([status, body.output]).toEqual([200, "Hello"]);
    expect(headers.get("preference-applied")).toBe("wait=20");
  });

  test("is answered with 202 and the run's place when the run takes longer", async () => {
    const { agent } = await heldAgent();
    const { status, body, headers } = await beckon.invoke(agent, "Hello", { prefer: "wait=1" });
    expect(status).toBe(202);
    expect(body).toEqual({ ok: true, run_id: expect.stringMatching(/^run_/), status: "running" });
    expect(headers.get("location")).toBe(`/api/public/runs/${body.run_id}`);
    expect(headers.get("preference-applied")).toBe("wait=1");
  });

  test("does not end the run when it is over", async () => {
    const { agent, held } = await heldAgent();
    const { body } = await beckon.invoke(agent, "Hello", { prefer: "wait=0" });
    held.release();
    const status = await eventually("the end of the run", async () => {
      const { data } = (await beckon.call(`/runs/${body.run_id}`)).body;
      return data.finished_at === null ? undefined : data.status;
    });
    expect(status).toBe("succeeded");
  });

  test("together with respond-async waits first", async () => {
    const { status, headers } = await beckon.invoke(await beckon.createAgent(), "Hello", {
      prefer: "respond-async, wait=20",
    });
    expect(status).toBe(200);
    expect(headers.get("preference-applied")).toBe("respond-async, wait=20");
  });
});

test.each([
  "",
  "return=minimal",
  "wait",
  "wait=soon",
  "wait=-1",
  "wait=1.5",
  "respond-asynchronously",
  '=;,,"',
  "x".repeat(2_000),
])("the preference %j is ignored", async (prefer) => {
  const { status, body, headers } = await beckon.invoke(await beckon.createAgent(), "Hello", {
    prefer,
  });
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(headers.has("preference-applied")).toBe(false);
});

test("what is understood is applied beside what is not", async () => {
  const { agent } = await heldAgent();
  const { status, headers } = await beckon.invoke(agent, "Hello", {
    prefer: 'handling=lenient; a="b", respond-async;x, , foo',
  });
  expect([status, headers.get("preference-applied")]).toEqual([202, "respond-async"]);
});

test("a failed run is answered with 500 under wait=N too", async () => {
  const agent = await beckon.createAgent({ limits: { max_steps: 1 }, tools: [{ type: "clock" }] });
  const { status, body } = await beckon.invoke(agent, "/call clock {}", { prefer: "wait=20" });
  expect([status, body.code]).toEqual([500, "step_limit"]);
});

test("who would take the answer as JSON too gets it as JSON", async () => {
  const accept = "application/json, text/event-stream";
  const { status, headers } = await beckon.invoke(await beckon.createAgent(), "Hello", { accept });
  expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
});
