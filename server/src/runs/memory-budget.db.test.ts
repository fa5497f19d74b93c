import { describe, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { type HeldTool, heldTool } from "../../test/held-tool.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { insertStranger } from "../../test/workspace-key.ts";
import type { Tool } from "../engine/index.ts";

/** With these settings, all runs can use 60 MiB, and the runs of one workspace 45 MiB. */
const settings = { BECKON_MEMORY_BUDGET_MIB: "96", BECKON_METRICS_PORT: "0" };
const shareKib = 45 * 1024;

const tools = { current: heldTool() };
const shared: Tool = {
  ...tools.current.tool,
  execute: (args, context) => tools.current.tool.execute(args, context),
};
const beckon = await startTestBeckon(settings, { tools: [shared] });
const stranger = await insertStranger(beckon);

function freshTool() {
  const held = heldTool();
  tools.current = held;
  onTestFinished(() => held.release());
  return held;
}

/** Starts a run without waiting for it. */
async function begin(agent: { id: string; token: string }, input: string): Promise<string> {
  const { status, body } = await beckon.invoke(agent, input, { prefer: "respond-async" });
  expect(status).toBe(202);
  return body.run_id;
}

const read = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;
const over = (runId: string) =>
  eventually(`the end of ${runId}`, async () => {
    const run = await read(runId);
    return run.finished_at === null ? undefined : run;
  });
const typesOf = async (runId: string) =>
  (await beckon.call(`/runs/${runId}/events`)).body.data.map(({ type }: { type: string }) => type);

/**
 * Starts a run that uses almost the whole share of memory of the workspace. With the default of
 * `lessKib`, no other run of the workspace can begin.
 * @param lessKib KiB of the share that are left free for other runs.
 */
async function fillShare(held: HeldTool, lessKib = 0): Promise<string> {
  const runId = await begin(
    await beckon.createAgent(),
    `/call hold {"kib": ${shareKib - lessKib - 40}}`,
  );
  await held.called(1);
  return runId;
}

test("runs of a workspace without memory wait, those of another one succeed", async () => {
  const held = freshTool();
  const agent = await beckon.createAgent();
  const full = await fillShare(held);
  const waiting = await begin(agent, "waits for memory");
  const queued = await eventually("a run that is queued, since one waits", async () => {
    const runId = await begin(agent, "waits in the queue");
    return (await read(runId)).status === "queued" ? runId : undefined;
  });
  const { body } = await beckon.call("/agents", {
    credential: stranger,
    body: { name: "Other", model: "demo/echo" },
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => beckon.invoke(body.data, `hello ${n}`)),
  );
  expect(answers.map(({ status, body: { output } }) => [status, output])).toEqual(
    Array.from({ length: 20 }, (_, n) => [200, `hello ${n}`]),
  );
  expect(await beckon.metric("beckon_runs_waiting", { reason: "memory" })).toBeGreaterThan(0);
  // Whether the run was queued first depends on the load of this process.
  const types = (await typesOf(waiting)).filter((type: string) => type !== "run.queued");
  expect([(await read(waiting)).status, types]).toEqual(["running", ["run.started"]]);
  expect((await read(queued)).status).toBe("queued");

  held.release();
  for (const runId of [full, waiting, queued]) expect((await over(runId)).status).toBe("succeeded");
});

test("a run that waits for memory holds nothing of a limit", async () => {
  const agent = await beckon.createAgent();
  const ceiling = `/limits/agent/${agent.id}`;
  await beckon.call(ceiling, { method: "PUT", body: { limit_micros: 1_000_000 } });
  // After this run, the process can predict what the first model call of a run uses at most. It
  // reserves that amount together with the start of the next run.
  await over(await begin(agent, "first"));
  const held = freshTool();
  await fillShare(held);
  const waiting = await begin(agent, "waits for memory");
  const reserved = async () => {
    const { rows } = await beckon.db.database.engine.query<{ tokens: number }>(
      "select tokens::int from reservations where run_id = $1",
      [waiting],
    );
    return rows[0]?.tokens;
  };
  await eventually("the return", async () => (await reserved()) === 0 || undefined);
  expect((await read(waiting)).status).toBe("running");
  held.release();
  expect((await over(waiting)).status).toBe("succeeded");
  await beckon.call(ceiling, { method: "DELETE" });
});

test("a run that waits for memory ends when it is cancelled or times out", async () => {
  const held = freshTool();
  const hasty = await beckon.createAgent({ limits: { timeout_seconds: 1 } });
  // Afterwards its runs need no preparation, so all of their time is left for the wait.
  await over(await begin(hasty, "first"));
  await fillShare(held);
  const late = await begin(hasty, "too late");
  expect(await over(late)).toMatchObject({
    status: "failed",
    error: {
      code: "deadline_exceeded",
      message: expect.stringMatching(/waited \d+ s for memory .*BECKON_MEMORY_BUDGET_MIB/),
    },
  });
  const cancelled = await begin(hasty, "cancelled");
  await beckon.call(`/runs/${cancelled}/cancel`, { method: "POST" });
  expect(await over(cancelled)).toMatchObject({ status: "cancelled" });
});

test("the input of a run that waits for memory is read again later", async () => {
  const held = freshTool();
  const agent = await beckon.createAgent();
  await fillShare(held);
  const input = "é".repeat(200_000);
  const waiting = await begin(agent, input);
  held.release();
  expect(await over(waiting)).toMatchObject({ status: "succeeded", output: input });
});

describe.each(["never", "always"])("a run that executes, streamed: %s", (stream) => {
  test("fails if it needs more memory than is left, and says what to do", async () => {
    const held = freshTool();
    const model = await startHeldModel(beckon, says("x".repeat(600_000)));
    const agent = await beckon.createAgent({ model: model.model, model_settings: { stream } });
    const runId = await begin(agent, "hello");
    await model.reached(1);
    await fillShare(held, 256);
    model.release();
    const { status, error } = await over(runId);
    expect([status, error.code]).toEqual(["failed", "model_error"]);
    expect(error.message).toMatch(
      /all the memory .* \(45 MiB\).*Start fewer runs at once.*BECKON_MEMORY_BUDGET_MIB/,
    );
  });

  test("fails if the response exceeds max_answer_bytes, 4 MiB by default", async () => {
    const server = await startModelServer();
    onTestFinished(() => server.close());
    server.script(says("x".repeat(4_300_000)));
    const { name } = await beckon.createProvider(server.url, `large-${stream}`);
    const agent = await beckon.createAgent({
      model: `${name}/scripted`,
      model_settings: { stream },
    });
    const failed = await beckon.invoke(agent, "hello");
    expect([failed.status, failed.body.code]).toEqual([500, "model_error"]);
    expect(failed.body.error).toMatch(
      /larger than 4194304 bytes, the agent's limits.max_answer_bytes/,
    );
    expect(server.requests).toHaveLength(1);
    await beckon.call(`/agents/${agent.id}`, {
      method: "PATCH",
      body: { limits: { max_answer_bytes: 5_000_000 } },
    });
    expect((await beckon.invoke(agent, "hello")).body.output).toHaveLength(4_300_000);
  });
});

test("an agent that was stored without max_answer_bytes has the default", async () => {
  const agent = await beckon.createAgent();
  const { db } = beckon;
  await db.database.engine.query(
    "update agent_versions set config = config #- '{limits,max_answer_bytes}' where agent_id = $1",
    [agent.id],
  );
  expect((await beckon.call(`/agents/${agent.id}`)).body.data.limits).toMatchObject({
    max_steps: 20,
    max_answer_bytes: 4_194_304,
  });
  expect(
    (await beckon.call(`/agents/${agent.id}/versions/1`)).body.data.limits.max_answer_bytes,
  ).toBe(4_194_304);
  expect((await beckon.invoke(agent, "hello")).body.output).toBe("hello");
});
