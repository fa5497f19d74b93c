import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { startProxy, statement } from "../../test/proxy.ts";
import { allSucceeded, eventTypesOf, statesOf } from "../../test/runs-of.ts";
import type { Beckon } from "../main.ts";

/** A server with a direct connection to the database. It serves callers and executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const proxy = await startProxy(beckon.db.url);
afterAll(() => proxy.close());

/** Starts a process whose connections to the database can be broken. */
async function startFar(settings: Record<string, string> = {}): Promise<Beckon> {
  const far = await beckon.another({
    settings: {
      BECKON_ROLE: "all",
      BECKON_DRAIN_SECONDS: "0",
      DATABASE_URL: proxy.urlFor(beckon.db.url),
      ...settings,
    },
  });
  let stopped: Promise<void> | undefined;
  const once: Beckon = { ...far, stop: () => (stopped ??= far.stop()) };
  onTestFinished(async () => {
    proxy.weather = { type: "fair" };
    proxy.drop();
    await once.stop();
  });
  return once;
}

const attemptsOf = async (agentId: string) =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data.map(
    (run: { attempt: number }) => run.attempt,
  );

/** Matches the commit that follows the statement `name`. */
function commitAfter(name: string): (bytes: Buffer) => boolean {
  let seen = false;
  return (bytes) => {
    seen ||= statement(name)(bytes);
    return seen && bytes.includes("commit\0");
  };
}

test.each([
  ["a claim", null, statement("claim")],
  ["a claim under a concurrency limit", 2, commitAfter("claim-limited")],
] as const)(
  "runs of %s whose reply was lost after its commit are executed by the process that claimed them",
  async (_what, max, request) => {
    const agent = await beckon.createAgent({ limits: { max_concurrent_runs: max } });
    const runs = await Promise.all(
      Array.from({ length: 3 }, () => beckon.invoke(agent, "Hello", { prefer: "respond-async" })),
    );
    const cut = proxy.cutNext({ request, pass: "nothing" });
    await startFar();
    await cut;
    await allSucceeded(beckon, agent.id, 3);
    for (const { body } of runs) {
      expect(await eventTypesOf(beckon, body.run_id)).toEqual([
        "run.queued",
        "run.started",
        "run.step",
        "run.finished",
      ]);
    }
    expect(await attemptsOf(agent.id)).toEqual([1, 1, 1]);
  },
);

test.each([
  { statement: "claim-abandoned", attempt: 1, suspects: 0 },
  { statement: "claim-last-attempts", attempt: 2, suspects: 0 },
  { statement: "claim-suspects", attempt: 3, suspects: 2 },
])("so are runs of a failover by $statement", async ({ statement: name, attempt, suspects }) => {
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  await beckon.db.database.engine.query(
    "insert into processes (id, engine_version, lease_until, died_at, suspects) values ($1, 1, now(), now(), $2)",
    [`prc_dead_${attempt}`, suspects],
  );
  await beckon.db.database.engine.query(
    "update runs set status = 'running', owner = $2, fence = 1, attempt = $3, started_at = now() where agent_id = $1",
    [agent.id, `prc_dead_${attempt}`, attempt],
  );
  const cut = proxy.cutNext({ request: statement(name), pass: "nothing" });
  await startFar();
  await cut;
  await allSucceeded(beckon, agent.id, 1);
  expect(await eventTypesOf(beckon, body.run_id)).toEqual([
    ...["run.queued", "run.resumed", "run.step_lost", "run.step", "run.finished"],
  ]);
  expect(await attemptsOf(agent.id)).toEqual([Math.min(attempt + 1, 3)]);
});

test.each([3, 1])(
  "a run of a claim whose reply was lost just before the process stops is released at no cost of an attempt (max_attempts %i)",
  async (max) => {
    const held = await startHeldModel(beckon);
    const agent = await beckon.createAgent({ model: held.model, limits: { max_attempts: max } });
    const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
    const cut = proxy.cutNext({ request: statement("claim"), pass: "nothing" });
    const far = await startFar();
    await cut;
    await far.stop();
    expect((await beckon.call(`/runs/${body.run_id}`)).body.data).toMatchObject({
      status: "queued",
      attempt: 1,
    });
    const { rows } = await beckon.db.database.engine.query(
      "select type, data from events where run_id = $1 order by seq desc limit 1",
      [body.run_id],
    );
    expect(rows).toEqual([{ type: "run.queued", data: { calls_reported: true } }]);
    held.release();
    await startFar();
    await allSucceeded(beckon, agent.id, 1);
  },
);

test("a run whose claim is read only after another process has taken it over reaches no model", async () => {
  const held = await startHeldModel(beckon);
  held.release();
  const agent = await beckon.createAgent({ model: held.model });
  const far = await startFar({ BECKON_LEASE_SECONDS: "2" });
  // Caches the agent, so that the next run needs nothing of the database before its model call.
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  const withhold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { pass: resolve, sent: proxy.cutNext({ request: statement("claim"), pass: promise }) };
  };
  let claim = withhold();
  await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  for (await claim.sent; (await statesOf(beckon, agent.id)).running !== 1; await claim.sent) {
    // This claim was sent before the run was queued.
    const { pass } = claim;
    claim = withhold();
    pass();
  }
  proxy.weather = { type: "blackHole" };
  const near = await beckon.another({
    settings: { BECKON_ROLE: "worker", BECKON_LEASE_SECONDS: "2" },
  });
  onTestFinished(() => near.stop());
  await allSucceeded(beckon, agent.id, 2);
  expect(held.requests.length).toBe(2);

  claim.pass();
  await eventually("the run at its former owner", () => far.executingRuns() || undefined);
  proxy.weather = { type: "fair" };
  proxy.drop({ hard: true });
  await eventually("the end of the run at its former owner", () =>
    far.executingRuns() === 0 ? true : undefined,
  );
  expect(held.requests.length).toBe(2);
  expect(await attemptsOf(agent.id)).toEqual([2, 1]);
});

test("a caller gets the output although the first read of the outcome fails", async () => {
  const api = await startFar({ BECKON_ROLE: "api" });
  const worker = await beckon.another({ settings: { BECKON_ROLE: "worker" } });
  onTestFinished(() => worker.stop());
  const agent = await beckon.createAgent();
  const cut = proxy.cutNext({ request: statement("read-outcome"), pass: "nothing" });
  const invoked = beckon.call(`${api.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
  });
  await cut;
  const { status, body } = await invoked;
  expect([status, body.output]).toEqual([200, "Hello"]);
});

test("a start without a reply gets the outcome if this process claims the run", async () => {
  const far = await startFar();
  const agent = await beckon.createAgent({ limits: { max_concurrent_runs: 1 } });
  const invoke = () =>
    beckon.call(`${far.url}/api/public/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: { input: "Hello" },
    });
  // Caches the credential. Otherwise the start statement would first be sent to check only the
  // credential, and the proxy would stall that statement.
  expect((await invoke()).status).toBe(200);
  const stalled = proxy.cutNext({ request: statement("start"), pass: "stall" });
  const { status, body } = await invoke();
  await stalled;
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(await statesOf(beckon, agent.id)).toEqual({ succeeded: 2 });
});

test("a retry whose run was started gets the run although the first attempt to read it fails", async () => {
  const far = await startFar();
  const agent = await beckon.createAgent();
  const { body } = await beckon.invoke(agent, "Hello");
  const cut = proxy.cutNext({
    request: (bytes) => bytes.includes('"run_results"."limit_reached"'),
    pass: 0,
  });
  const retried = beckon.call(`${far.url}/api/public/runs/${body.run_id}/retry`, { body: {} });
  await cut;
  expect(await retried).toMatchObject({
    status: 201,
    body: { data: { retry_of: body.run_id, input: "Hello" } },
  });
  await allSucceeded(beckon, agent.id, 2);
});

test("a start that got 503 reaches no model, even if its run is claimed", async () => {
  const far = await startFar();
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const invoke = (input: string) =>
    beckon.call(`${far.url}/api/public/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: { input },
    });
  const first = invoke("first");
  await held.reached(1);
  const stalled = proxy.cutNext({ request: statement("start"), pass: "stall" });
  const second = invoke("second");
  await stalled;
  expectError(await second, 503, "unavailable");
  held.release();
  expect((await first).status).toBe(200);
  await eventually(
    "the end of both",
    async () => (await statesOf(beckon, agent.id)).cancelled === 1 || undefined,
  );
  expect(await statesOf(beckon, agent.id)).toEqual({ succeeded: 1, cancelled: 1 });
  expect(held.requests.length).toBe(1);
});

test("a start with a key that got 503 but was written is executed once, and its repeats get it", async () => {
  const far = await startFar();
  const held = await startHeldModel(beckon);
  held.release();
  const agent = await beckon.createAgent({ model: held.model });
  const invoke = (input: string, headers: Record<string, string> = {}) =>
    beckon.call(`${far.url}/api/public/agents/${agent.id}/invoke`, {
      credential: agent.token,
      body: { input },
      headers,
    });
  expect((await invoke("so that the credential is cached")).status).toBe(200);
  proxy.weather = { type: "mute" };
  expectError(await invoke("Hello", { "idempotency-key": "k" }), 503, "unavailable", /same key/);
  // Another process returns the run before the first process learns that the run was written.
  const acknowledged = await beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    headers: { "idempotency-key": "k", prefer: "respond-async" },
  });
  expect(acknowledged.status).toBe(202);
  const again = invoke("Hello", { "idempotency-key": "k" });
  proxy.weather = { type: "fair" };
  proxy.drop({ hard: true });
  const { status, body } = await again;
  expect([status, body.output, body.run_id]).toEqual([200, "Hello", acknowledged.body.run_id]);
  expect(await statesOf(beckon, agent.id)).toEqual({ succeeded: 2 });
  expect(held.requests.length).toBe(2);
});
