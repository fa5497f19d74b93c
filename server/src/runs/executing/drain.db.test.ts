import { expect, onTestFinished, test } from "vitest";
import { type Answer, startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { expectError } from "../../../test/expect-error.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { heldTool } from "../../../test/held-tool.ts";
import { entriesOf, wrongWithLedger } from "../../../test/ledger.ts";
import { budgetsOf, pricedWorkspace, wrongWithBudgets } from "../../../test/limits.ts";
import {
  type Behaviour,
  blackHole,
  echo,
  says,
  startModelServer,
  withDelivery,
} from "../../../test/model-server.ts";
import { allSucceeded, eventTypesOf, statesOf } from "../../../test/runs-of.ts";
import { newId } from "../../base/ids.ts";
import type { Tool } from "../../engine/index.ts";
import type { Beckon } from "../../main.ts";

/** Executes no runs, so released runs stay queued until a test starts a server that executes. */
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
async function startServer(
  settings: Record<string, string>,
  options: Parameters<typeof beckon.another>[0] = {},
): Promise<Beckon> {
  const server = await beckon.another({
    ...options,
    settings: { BECKON_ROLE: "all", ...settings },
  });
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

test("after the grace period runs are released at no cost of an attempt, and the wait is not part of their timeout", async () => {
  const server = await startServer({ BECKON_DRAIN_SECONDS: "1" });
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { timeout_seconds: 60 } });
  const invoked = invokeAt(server, agent);
  await held.reached(1);
  await server.stop();

  const { status, body, headers } = await invoked;
  expect([status, body]).toEqual([202, { ok: true, run_id: expect.any(String), status: "queued" }]);
  expect(headers.get("location")).toBe(`/api/public/runs/${body.run_id}`);
  expect(await runOf(body.run_id)).toMatchObject({ status: "queued", attempt: 1 });
  expect(await typesSinceStart(body.run_id)).toEqual([
    ...["run.started", "run.step_lost", "run.queued"],
  ]);

  await beckon.db.database.engine.query(
    `update runs set started_at = started_at - interval '10 minutes',
      released_at = released_at - interval '10 minutes' where id = $1`,
    [body.run_id],
  );
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
    ...["run.started", "run.step_lost", "run.queued", "run.resumed", "run.step", "run.finished"],
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

test("a resumed run sends the model the same bytes of a tool's result", async () => {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script(async (request, index) => {
    if (index === 0)
      return says({ calls: [{ id: "call_1", name: "read", arguments: "{}" }] })(request, index);
    return (index === 1 ? blackHole : echo())(request, index);
  });
  const tool: Tool = {
    name: "read",
    description: "reads",
    parameters: { type: "object" },
    safeToRepeat: true,
    execute: async () => ({ status: 1e21, body: [{ name: "Ada", id: 2 ** 60, $: 1e-7 }], 2: "é" }),
  };
  const { name } = await beckon.createProvider(models.url, "same-bytes");
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const stopping = await startServer({ BECKON_DRAIN_SECONDS: "0" }, { tools: [tool] });
  await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await eventually("the second model call", () => models.requests.length === 2 || undefined);
  await stopping.stop();
  await startServer({}, { tools: [tool] });
  await allSucceeded(beckon, agent.id, 1);
  const [, first, again] = models.requests.map(({ body }) => JSON.stringify(body));
  expect(again).toBe(first);
});

/** Stops a process during a call of a tool that is not safe to repeat. Returns the released run. */
async function releaseDuringCall() {
  const held = heldTool({ safeToRepeat: false });
  onTestFinished(() => held.release());
  const stopping = await startServer({ BECKON_DRAIN_SECONDS: "0" }, { tools: [held.tool] });
  const agent = await beckon.createAgent();
  const input = '/call hold {"kib": 1}';
  const { body } = await beckon.invoke(agent, input, { prefer: "respond-async" });
  await held.called(1);
  await stopping.stop();
  const runId: string = body.run_id;
  return { runId, agent, held };
}

const untilReleased = "run.started run.step run.tool_call run.tool_result run.queued".split(" ");

test("a run that is cancelled after its release has results for calls that cannot be repeated", async () => {
  const { runId } = await releaseDuringCall();
  expect((await beckon.call(`/runs/${runId}/cancel`, { method: "POST" })).status).toBe(200);
  expect(await typesSinceStart(runId)).toEqual([...untilReleased, "run.cancelled"]);
  const { rows } = await beckon.db.database.engine.query(
    "select data->>'outcome' as outcome from events where type = 'run.tool_result' and run_id = $1",
    [runId],
  );
  expect(rows).toEqual([{ outcome: "unknown" }]);
});

test("a released run resumes after its unknown calls, without a second result and without an estimate", async () => {
  const { runId, agent, held } = await releaseDuringCall();
  await startServer({}, { tools: [held.tool] });
  await allSucceeded(beckon, agent.id, 1);
  expect(await typesSinceStart(runId)).toEqual([
    ...untilReleased,
    ...["run.resumed", "run.step", "run.finished"],
  ]);
  expect(held.calls).toBe(1);
});

/**
 * Starts `count` runs in a workspace with a ceiling that pays for one call at a time. The model
 * responds to its first calls as in `behaviours`, then echoes. Stops the process as soon as it has
 * made `behaviours.length` calls and each run has requested a reservation. Returns the first run,
 * and the ids of all runs.
 */
async function releaseAfter(behaviours: readonly Behaviour[], count = 1) {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script((request, index) => (behaviours[index] ?? echo())(request, index));
  const workspace = await pricedWorkspace(beckon, models);
  const agent = await workspace.agent({
    model_settings: { stream: "always", max_output_tokens: 10_000 },
  });
  await workspace.ceiling("agent", agent.id, 15_000);
  const stopping = await startServer({ BECKON_DRAIN_SECONDS: "0" });
  const { engine } = beckon.db.database;
  const ids: string[] = [];
  while (ids.length < count) {
    const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    ids.push(body.run_id);
    await eventually("its request for a reservation", async () => {
      const { rows } = await engine.query("select from reservations where run_id = $1", [
        body.run_id,
      ]);
      return rows.length || undefined;
    });
  }
  await eventually("the calls", () => models.requests.length === behaviours.length || undefined);
  await stopping.stop();
  const [runId = ""] = ids;
  return {
    runId,
    ids,
    read: async (id = runId) => (await workspace.call(`/runs/${id}`)).body.data,
    cancel: () => workspace.call(`/runs/${runId}/cancel`, {}),
    entries: (id = runId) => entriesOf(engine, id),
    budget: async () => (await budgetsOf(engine, workspace.id))["agent cost"],
    wrong: async () => [
      ...(await wrongWithLedger(engine)),
      ...(await wrongWithBudgets(engine, workspace.id)),
    ],
  };
}

test("a released run keeps what each attempt of its aborted model call used, and no estimate is added", async () => {
  const run = await releaseAfter([
    withDelivery({ type: "cut", after: 4_000 }, says("words before the break ".repeat(500))),
    blackHole,
  ]);
  const lost = { step: 1, outcome: "lost", estimated: true };
  const released = await run.entries();
  expect(released).toMatchObject([lost, { ...lost, output_tokens: 0 }]);
  // Each output token of this model costs a micro-dollar, and input is free.
  const spent = released[0]?.output_tokens;
  expect(spent).toBeGreaterThan(0);
  expect(await run.budget()).toEqual({ spent, reserved: 0 });

  await startServer({});
  await eventually("the end", async () => (await run.read()).finished_at ?? undefined);
  expect(await run.entries()).toMatchObject([lost, lost, { step: 1, outcome: "answered" }]);
  expect(await typesSinceStart(run.runId)).toEqual([
    ...["run.started", "run.step_lost", "run.queued", "run.resumed", "run.step", "run.finished"],
  ]);
  expect(await run.wrong()).toEqual([]);
});

test("a run that is cancelled after its release shows an estimate of its aborted model call", async () => {
  const run = await releaseAfter([blackHole]);
  expect(await run.budget()).toMatchObject({ reserved: 0 });
  expect((await run.cancel()).status).toBe(200);
  expect(await run.entries()).toMatchObject([{ outcome: "lost", estimated: true }]);
  expect(await run.read()).toMatchObject({
    status: "cancelled",
    usage: { estimated: true },
  });
  expect(await run.wrong()).toEqual([]);
});

test("a released run that waited for a limit has no call in the ledger but its own", async () => {
  const run = await releaseAfter([blackHole], 2);
  const [first = "", waited = ""] = run.ids;
  expect([(await run.entries(first)).length, (await run.entries(waited)).length]).toEqual([1, 0]);
  await startServer({});
  for (const id of run.ids)
    await eventually("the end", async () => (await run.read(id)).finished_at ?? undefined);
  expect(await run.entries(waited)).toMatchObject([{ step: 1, outcome: "answered" }]);
  expect(await run.wrong()).toEqual([]);
});

test("a released run that waited for memory has no call in the ledger but its own", async () => {
  const held = heldTool();
  onTestFinished(() => held.release());
  // All runs of the workspace can use 45 MiB together.
  const stopping = await startServer(
    { BECKON_DRAIN_SECONDS: "0", BECKON_MEMORY_BUDGET_MIB: "96" },
    { tools: [held.tool] },
  );
  const agent = await beckon.createAgent();
  const begin = async (input: string): Promise<string> =>
    (await beckon.invoke(agent, input, { prefer: "respond-async" })).body.run_id;
  await begin(`/call hold {"kib": ${45 * 1024 - 40}}`);
  await held.called(1);
  const waited = await begin("Hello");
  await eventually(
    "its claim",
    async () => (await runOf(waited)).status === "running" || undefined,
  );
  await stopping.stop();
  expect(await typesSinceStart(waited)).toEqual(["run.started", "run.queued"]);

  held.release();
  await startServer({}, { tools: [held.tool] });
  await allSucceeded(beckon, agent.id, 2);
  expect(await typesSinceStart(waited)).toEqual([
    ...["run.started", "run.queued", "run.resumed", "run.step", "run.finished"],
  ]);
  const { engine } = beckon.db.database;
  expect(await entriesOf(engine, waited)).toMatchObject([{ step: 1, outcome: "answered" }]);
  expect(await wrongWithLedger(engine)).toEqual([]);
});

test("a lost model call is in the ledger if the next process stops before it resumes the run", async () => {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script(blackHole);
  const { name } = await beckon.createProvider(models.url, "lost");
  const processId = newId("prc");
  const worker = { BECKON_ROLE: "worker", BECKON_DRAIN_SECONDS: "0" };
  await startServer({ ...worker, BECKON_MAX_RUNS: "1" }, { processId });
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const invoked = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  const runId: string = invoked.body.run_id;
  await eventually("the model call", () => models.requests.length === 1 || undefined);

  // All memory for the workspace's runs is in use in the next process, so the run waits there
  // before its journal is read.
  const held = heldTool();
  onTestFinished(() => held.release());
  const stopping = await startServer(
    { ...worker, BECKON_MEMORY_BUDGET_MIB: "96" },
    { tools: [held.tool] },
  );
  const holding = await beckon.createAgent();
  await beckon.invoke(holding, `/call hold {"kib": ${45 * 1024 - 40}}`, {
    prefer: "respond-async",
  });
  await held.called(1);
  await stopping.recordDeaths([processId]);
  await eventually("the failover", async () => (await runOf(runId)).attempt === 2 || undefined);
  await stopping.stop();
  expect(await typesSinceStart(runId)).toEqual([
    ...["run.started", "run.resumed", "run.step_lost", "run.queued"],
  ]);

  expect((await beckon.call(`/runs/${runId}/cancel`, { method: "POST" })).status).toBe(200);
  const { engine } = beckon.db.database;
  const entries = await entriesOf(engine, runId);
  expect(entries).toMatchObject([{ step: 1, outcome: "lost", estimated: true }]);
  expect(await runOf(runId)).toMatchObject({
    status: "cancelled",
    usage: { input_tokens: entries[0]?.input_tokens, estimated: true },
  });
  expect(await wrongWithLedger(engine)).toEqual([]);
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

/** Waits until no living process executes queued runs any more. */
async function untilAllDrain(): Promise<void> {
  await eventually("the drain of all processes", async () => {
    const { rows } = await beckon.db.database.engine.query(
      "select from processes where died_at is null and accepts_runs",
    );
    return rows.length === 0 || undefined;
  });
}

test("processes that stop together do not wait for queued runs, which none of them executes", async () => {
  const servers = [await startServer(longGrace), await startServer(longGrace)] as const;
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const executed = invokeAt(servers[0], agent);
  await held.reached(1);
  const queued = servers.map((server) => invokeAt(server, agent));
  await eventually(
    "two queued runs",
    async () => (await statesOf(beckon, agent.id)).queued === 2 || undefined,
  );

  const stopped = Promise.all(servers.map((server) => server.stop()));
  await untilAllDrain();
  held.release();
  expect((await executed).status).toBe(200);
  const answered = performance.now();
  for (const { status, body } of await Promise.all(queued))
    expect([status, body.status]).toEqual([202, "queued"]);
  await stopped;
  expect(performance.now() - answered).toBeLessThan(15_000);
  await startServer({});
  await allSucceeded(beckon, agent.id, 3);
});

test("a process waits for a caller whose run another stopping process executes", async () => {
  const api = await startServer({ ...longGrace, BECKON_ROLE: "api" });
  const worker = await startServer({ ...longGrace, BECKON_ROLE: "worker" });
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = invokeAt(api, agent);
  await held.reached(1);
  const stopped = [worker.stop(), api.stop()];
  await untilAllDrain();
  held.release();
  const { status, body } = await invoked;
  expect([status, body.output]).toEqual([200, "Hello"]);
  await Promise.all(stopped);
});

test("starts in progress when a process stops get a response, and none is lost", async () => {
  // Starts a worker, which executes the runs that stopping processes have queued.
  await startServer({ BECKON_ROLE: "worker" });
  const agent = await beckon.createAgent();
  const accepted: string[] = [];
  for (let round = 0; round < 3; round++) {
    const server = await startServer(longGrace);
    const answers = Array.from({ length: 60 }, () => invokeAt(server, agent));
    // Stops the process when one start has its response and the others are in progress.
    await Promise.race(answers);
    await server.stop();
    for (const { status, body } of await Promise.all(answers)) {
      expect([200, 503]).toContain(status);
      if (status === 200) accepted.push(body.run_id);
    }
  }
  await allSucceeded(beckon, agent.id, accepted.length);
  const { rows } = await beckon.db.database.engine.query(
    "select id from runs where id = any ($1) and (status <> 'succeeded' or attempt <> 1)",
    [accepted],
  );
  expect(rows).toEqual([]);
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
