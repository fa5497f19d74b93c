import { expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { expectError } from "../../../test/expect-error.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { echo, says, startModelServer } from "../../../test/model-server.ts";
import { allSucceeded, eventTypesOf } from "../../../test/runs-of.ts";
import type { Beckon } from "../../main.ts";

/**
 * A server that executes no runs. So released runs stay queued until a test starts a server that
 * executes them.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

type Agent = Awaited<ReturnType<typeof beckon.createAgent>>;
const longGrace = { BECKON_DRAIN_SECONDS: "20" };
const at = (server: Beckon, path: string) => `${server.url}/api/public${path}`;
const invokeAt = (server: Beckon, agent: Agent): Promise<Answer> =>
  beckon.call(at(server, `/agents/${agent.id}/invoke`), {
    credential: agent.token,
    body: { input: "Hello" },
  });

/** Starts a process that executes runs, and stops it at the end of the test at the latest. */
async function startServer(settings: Record<string, string>): Promise<Beckon> {
  const server = await beckon.another({ settings: { BECKON_ROLE: "all", ...settings } });
  let stopped: Promise<void> | undefined;
  const once: Beckon = { ...server, stop: () => (stopped ??= server.stop()) };
  onTestFinished(() => once.stop());
  return once;
}

/**
 * Returns the types of a run's events from `run.started`. Omits the events before that: they vary,
 * because a process queues new runs until it has found the queue empty.
 */
async function typesSinceStart(runId: string): Promise<string[]> {
  const types = await eventTypesOf(beckon, runId);
  return types.slice(types.indexOf("run.started"));
}

const runOf = async (runId: string) => (await beckon.call(`/runs/${runId}`)).body.data;

test("a stopping process rejects starts and responds to waiting callers", async () => {
  const server = await startServer(longGrace);
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const { token } = await beckon.createTrigger(agent.id);
  const waiting = [invokeAt(server, agent), invokeAt(server, agent)];
  await held.reached(2);
  expect((await beckon.call(`${server.url}/readyz`)).status).toBe(200);

  const stopped = server.stop();
  expect((await beckon.call(`${server.url}/readyz`)).status).toBe(503);
  expect((await beckon.call(`${server.url}/healthz`)).status).toBe(200);
  for (const rejected of [
    await invokeAt(server, agent),
    await beckon.call(at(server, `/triggers/${token}`), { credential: null, body: "Hello" }),
  ]) {
    expectError(rejected, 503, "unavailable");
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await beckon.call(at(server, `/agents/${agent.id}`))).status).toBe(200);

  held.release();
  for (const { status, body } of await Promise.all(waiting))
    expect([status, body.output]).toEqual([200, "Hello"]);
  const answered = performance.now();
  await stopped;
  // Without runs left, the process does not wait for the grace period to end.
  expect(performance.now() - answered).toBeLessThan(15_000);
  expect(held.requests.length).toBe(2);
});

test("after the grace period runs are released at no cost of an attempt", async () => {
  const server = await startServer({ BECKON_DRAIN_SECONDS: "1" });
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = invokeAt(server, agent);
  await held.reached(1);
  await server.stop();

  const { status, body, headers } = await invoked;
  expect([status, body]).toEqual([202, { ok: true, run_id: expect.any(String), status: "queued" }]);
  expect(headers.get("location")).toBe(`/api/public/runs/${body.run_id}`);
  expect(await runOf(body.run_id)).toMatchObject({ status: "queued", attempt: 1 });
  expect(await typesSinceStart(body.run_id)).toEqual(["run.started", "run.queued"]);

  await startServer({});
  await held.reached(2);
  held.release();
  await allSucceeded(beckon, agent.id, 1);
  expect(await runOf(body.run_id)).toMatchObject({
    status: "succeeded",
    output: "Hello",
    attempt: 1,
  });
  expect(await typesSinceStart(body.run_id)).toEqual([
    ...["run.started", "run.queued", "run.resumed", "run.step_lost", "run.step", "run.finished"],
  ]);
});

test("a released run resumes after its last completed step", async () => {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  const released = Promise.withResolvers<void>();
  models.script(async (request, index) => {
    const toolHasAnswered = request.body.messages.some(({ role }) => role === "tool");
    if (!toolHasAnswered)
      return says({ calls: [{ id: "call_1", name: "clock", arguments: "{}" }] })(request, index);
    await released.promise;
    return echo()(request, index);
  });
  const { name } = await beckon.createProvider(models.url, "two-steps");
  const agent = await beckon.createAgent({ model: `${name}/scripted`, tools: [{ type: "clock" }] });
  const stopping = await startServer({ BECKON_DRAIN_SECONDS: "0" });
  const invoked = beckon.invoke(agent, "Hello");
  await eventually("the second model call", () => models.requests.length === 2 || undefined);
  await startServer({});
  await stopping.stop();
  await eventually(
    "the second model call once more",
    () => models.requests.length === 3 || undefined,
  );
  released.resolve();
  const { status, body } = await invoked;
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(await runOf(body.run_id)).toMatchObject({ attempt: 1 });
  expect(
    (await eventTypesOf(beckon, body.run_id)).filter(
      (type) => type === "run.tool_call" || type === "run.step",
    ),
  ).toEqual([...["run.step", "run.tool_call", "run.step"]]);
});

test("a stopping process with the role api waits for the runs of its callers", async () => {
  const api = await startServer({ ...longGrace, BECKON_ROLE: "api" });
  await startServer({});
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = invokeAt(api, agent);
  await held.reached(1);
  const stopped = api.stop();
  expect((await beckon.call(`${api.url}/readyz`)).status).toBe(503);
  held.release();
  const { status, body } = await invoked;
  expect([status, body.output]).toEqual([200, "Hello"]);
  await stopped;
});

test("starts in progress when a process stops get a response, and none is lost", async () => {
  // Starts a worker, which executes the runs that stopping processes have queued.
  await startServer({ BECKON_ROLE: "worker" });
  const agent = await beckon.createAgent();
  let accepted = 0;
  for (let round = 0; round < 5; round++) {
    const server = await startServer(longGrace);
    const answers = Array.from({ length: 60 }, () => invokeAt(server, agent));
    // Stops the process when one start has its response and the others are in progress.
    await Promise.race(answers);
    await server.stop();
    for (const { status, body } of await Promise.all(answers)) {
      expect([200, 503]).toContain(status);
      if (status === 200)
        expect(await runOf(body.run_id)).toMatchObject({ status: "succeeded", attempt: 1 });
      accepted += status === 200 ? 1 : 0;
    }
  }
  await allSucceeded(beckon, agent.id, accepted);
});

test("a run can be cancelled while its process drains", async () => {
  const server = await startServer(longGrace);
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = invokeAt(server, agent);
  await held.reached(1);
  const stopped = server.stop();
  const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  expect((await beckon.call(`/runs/${run.id}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await invoked).body.code).toBe("cancelled");
  await stopped;
});

test("a process declares itself dead when it stops", async () => {
  const server = await beckon.another({
    processId: "prc_stopped",
    settings: { BECKON_DRAIN_SECONDS: "0" },
  });
  await server.stop();
  const { rows } = await beckon.db.database.engine.query(
    "select died_at is not null as dead from processes where id = 'prc_stopped'",
  );
  expect(rows).toEqual([{ dead: true }]);
});
