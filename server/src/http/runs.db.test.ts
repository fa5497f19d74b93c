import { describe, expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, held, says, startModelServer } from "../../test/model-server.ts";
import { insertKey } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon();

const idsOf = ({ body }: Answer): string[] => body.data.map((run: { id: string }) => run.id);

/** Creates an agent and executes `count` runs of it. Returns the ids of the runs, newest first. */
async function agentWithRuns(count: number) {
  const agent = await beckon.createAgent();
  const runs: string[] = [];
  for (let index = 0; index < count; index++)
    runs.unshift((await beckon.invoke(agent, `run ${index}`)).body.run_id);
  return { agent, runs };
}

test("a queued run has no start time and no end time", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  await beckon.invoke(agent, "executing", { prefer: "respond-async" });
  await held.reached(1);
  const { body } = await beckon.invoke(agent, "waiting", { prefer: "respond-async" });
  expect(body.status).toBe("queued");
  expect((await beckon.call(`/runs/${body.run_id}`)).body.data).toMatchObject({
    status: "queued",
    output: null,
    error: null,
    started_at: null,
    finished_at: null,
    attempt: 1,
  });
});

test("an executing run has a start time and no end time", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await held.reached(1);
  const { data } = (await beckon.call(`/runs/${body.run_id}`)).body;
  expect(data).toMatchObject({ status: "running", output: null, error: null, finished_at: null });
  expect(Date.parse(data.started_at)).not.toBeNaN();
});

test("an executing run shows the usage of its steps, also of those stored as artifacts", async () => {
  const server = await startModelServer();
  const released = Promise.withResolvers<void>();
  const calls = [{ id: "call_1", name: "clock", arguments: "{}" }];
  const usage = { prompt_tokens: 10, completion_tokens: 20_000 };
  server.script([says({ text: "x".repeat(70_000), calls, usage }), held(released.promise, echo())]);
  const { name } = await beckon.createProvider(server.url);
  const agent = await beckon.createAgent({ model: `${name}/scripted`, tools: [{ type: "clock" }] });
  const invoked = beckon.invoke(agent, "Hello");
  onTestFinished(async () => {
    released.resolve();
    await invoked;
    await server.close();
  });
  await eventually("the second model call", () => server.requests.length === 2 || undefined);
  const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  expect(run).toMatchObject({
    status: "running",
    usage: { input_tokens: 10, output_tokens: 20_000 },
  });
  expect((await beckon.call(`/runs/${run.id}`)).body.data).toEqual(run);
});

test("a run keeps the version of its agent that it was started with", async () => {
  const { agent, runs } = await agentWithRuns(1);
  await beckon.call(`/agents/${agent.id}`, { method: "PATCH", body: { description: "Changed" } });
  const { body: later } = await beckon.invoke(agent, "Hello");
  const versionOf = async (id: string | undefined) =>
    (await beckon.call(`/runs/${id}`)).body.data.agent_version;
  expect([await versionOf(runs[0]), await versionOf(later.run_id)]).toEqual([1, 2]);
});

test("a run can be read after its agent was deleted", async () => {
  const { agent, runs } = await agentWithRuns(1);
  await beckon.call(`/agents/${agent.id}`, { method: "DELETE" });
  expect((await beckon.call(`/runs/${runs[0]}`)).body.data).toMatchObject({
    agent_id: agent.id,
    output: "run 0",
  });
});

test("an unknown run is not found", async () => {
  for (const id of ["run_00000000000000000000000000", "nonsense", "%00", "%F0%9F%91%8B"]) {
    expectError(await beckon.call(`/runs/${id}`), 404, "not_found");
  }
});

describe("a list of runs", () => {
  test("shows each run like a request for that run", async () => {
    const { agent, runs } = await agentWithRuns(1);
    const list = await beckon.call(`/agents/${agent.id}/runs`);
    expect(list.body.data).toEqual([(await beckon.call(`/runs/${runs[0]}`)).body.data]);
  });

  test("is newest first", async () => {
    const { agent, runs } = await agentWithRuns(3);
    const answer = await beckon.call(`/agents/${agent.id}/runs`);
    expect([idsOf(answer), answer.body.next]).toEqual([runs, null]);
  });

  test("of the workspace contains the runs of all agents", async () => {
    const [one, other] = [await agentWithRuns(1), await agentWithRuns(1)];
    expect(idsOf(await beckon.call("/runs?limit=2"))).toEqual([...other.runs, ...one.runs]);
  });

  test("of an agent without runs is empty", async () => {
    const { body } = await beckon.call(`/agents/${(await beckon.createAgent()).id}/runs`);
    expect(body).toEqual({ ok: true, data: [], next: null });
  });

  test("is read page by page without gaps or repeats, also while runs are added", async () => {
    const { agent, runs } = await agentWithRuns(5);
    const seen: string[] = [];
    for (let after = ""; ; ) {
      const page = await beckon.call(`/agents/${agent.id}/runs?limit=2${after}`);
      seen.push(...idsOf(page));
      if (page.body.next === null) break;
      after = `&after=${page.body.next}`;
      await beckon.invoke(agent, "added meanwhile");
    }
    expect(seen).toEqual(runs);
  });

  test("has no next page when the last run is on this one", async () => {
    const { agent } = await agentWithRuns(2);
    expect((await beckon.call(`/agents/${agent.id}/runs?limit=2`)).body.next).toBeNull();
  });

  test.each(["limit=0", "limit=201", "limit=-1", "limit=1.5", "limit=many", "limit="])(
    "rejects %s",
    async (query) => {
      expectError(await beckon.call(`/runs?${query}`), 400, "bad_request", /limit/);
    },
  );

  test("has 50 runs per page by default", async () => {
    const agent = await beckon.createAgent();
    await Promise.all(Array.from({ length: 51 }, () => beckon.invoke(agent, "Hello")));
    expect(idsOf(await beckon.call(`/agents/${agent.id}/runs`)).length).toBe(50);
    expect(idsOf(await beckon.call(`/agents/${agent.id}/runs?limit=200`)).length).toBe(51);
  });
});

describe("a cursor", () => {
  const cursorOf = async (path: string): Promise<string> =>
    (await beckon.call(`${path}?limit=1`)).body.next;

  test("of one agent's runs is rejected at another's", async () => {
    const [one, other] = [await agentWithRuns(2), await agentWithRuns(2)];
    const cursor = await cursorOf(`/agents/${one.agent.id}/runs`);
    expectError(
      await beckon.call(`/agents/${other.agent.id}/runs?after=${cursor}`),
      400,
      "bad_request",
      /cursor/,
    );
  });

  test("of one agent's runs is rejected for those of the workspace", async () => {
    const { agent } = await agentWithRuns(2);
    const cursor = await cursorOf(`/agents/${agent.id}/runs`);
    expectError(await beckon.call(`/runs?after=${cursor}`), 400, "bad_request", /cursor/);
  });

  test("of runs is rejected for agents", async () => {
    await agentWithRuns(2);
    expectError(
      await beckon.call(`/agents?after=${await cursorOf("/runs")}`),
      400,
      "bad_request",
      /cursor/,
    );
  });

  test("can be used with another limit and another credential", async () => {
    const { agent, runs } = await agentWithRuns(3);
    const cursor = await cursorOf(`/agents/${agent.id}/runs`);
    const credential = await insertKey(beckon, { scopes: ["runs:read"] });
    expect(
      idsOf(await beckon.call(`/agents/${agent.id}/runs?limit=5&after=${cursor}`, { credential })),
    ).toEqual(runs.slice(1));
  });

  test.each(["", "nonsense", "%00", "eA", "x".repeat(1_001), "run_00000000000000000000000000"])(
    "that is %j is rejected",
    async (cursor) => {
      expectError(await beckon.call(`/runs?after=${cursor}`), 400, "bad_request", /after/);
    },
  );
});

test("an unknown query parameter of a list is rejected by name, so that no filter is assumed to apply", async () => {
  const { status, body } = await beckon.call("/runs?state=failed");
  expect([status, body.code]).toEqual([400, "bad_request"]);
  expect(body.error).toContain("state");
});
