import { afterAll, expect, test } from "vitest";
import { startTestBeckon, type TestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { brokenGuarantees } from "../../test/load.ts";
import { startModelServer } from "../../test/model-server.ts";
import { type NetworkCondition, startProxy, statement } from "../../test/proxy.ts";
import { newId } from "../base/ids.ts";

/**
 * `far` is the process under test. It reaches the database through a proxy that simulates network
 * faults; `beckon` has a direct connection.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const proxy = await startProxy(beckon.db.url);
const processId = newId("prc");
const far = await beckon.another({
  processId,
  settings: {
    DATABASE_URL: proxy.urlFor(beckon.db.url),
    BECKON_ROLE: "all",
    // While a lease may have expired, no model is called. The faults also delay renewals.
    BECKON_LEASE_SECONDS: "600",
  },
});
let stopped: Promise<void> | undefined;
const stopFar = () => (stopped ??= far.stop());
const model = await startModelServer();
afterAll(async () => {
  await stopFar();
  await proxy.close();
  await model.close();
});
const provider = await beckon.createProvider(model.url);
const { engine } = beckon.db.database;

type Agent = Awaited<ReturnType<TestBeckon["createAgent"]>>;
const invoke = (agent: Agent, input: string) =>
  beckon.call(`${far.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input },
  });
const modelCallsOf = (input: string) =>
  model.requests.filter(({ body }) => body.messages.some(({ content }) => content === input))
    .length;

async function runOf(input: string) {
  const { rows } = await engine.query<{ id: string; status: string; must_end: boolean }>(
    `select r.id, r.status, r.cancel_requested_at is not null as must_end
      from runs r join run_inputs i on i.run_id = r.id where i.payload = $1`,
    [input],
  );
  return rows;
}

/**
 * Creates an agent. Makes `far` cache the agent and find the queue empty, so that only what the
 * test interrupts can fail.
 */
async function createAgent(name: string, more: Record<string, unknown>): Promise<Agent> {
  const agent = await beckon.createAgent({ model: `${provider.name}/scripted`, ...more });
  await eventually(
    "a first response",
    async () => (await invoke(agent, `before ${name}`)).status === 200 || undefined,
  );
  return agent;
}

/** Waits until the only run of the input is cancelled. Its model must not have been called. */
async function expectCancelled(input: string): Promise<void> {
  await eventually(
    "the run, cancelled",
    async () => (await runOf(input))[0]?.status === "cancelled" || undefined,
  );
  expect(modelCallsOf(input)).toBe(0);
  expect(await runOf(input)).toHaveLength(1);
  expect(await brokenGuarantees(beckon.db.database, [])).toEqual([]);
}

test.each<[string, NetworkCondition, Record<string, unknown>]>([
  ["the run was created running, and the reply lost", { type: "mute" }, {}],
  [
    "the run was queued, and the reply lost",
    { type: "mute" },
    { limits: { max_concurrent_runs: 1 } },
  ],
  ["the statement was lost", { type: "blackHole" }, {}],
])(
  "a start without a reply gets 503, and its run is cancelled before a model call: %s",
  async (name, weather, more) => {
    const agent = await createAgent(name, more);
    proxy.changeWith(statement("start"), weather);
    const answer = await invoke(agent, name);
    expect(answer).toMatchObject({ status: 503, body: { ok: false, code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(await runOf(name)).toHaveLength(weather.type === "mute" ? 1 : 0);

    proxy.weather = { type: "fair" };
    proxy.drop({ hard: true });
    await expectCancelled(name);
  },
);

// The last case stops `far`.
test.each(["a process that continues", "a process that stops"])(
  "a run whose start got 503 is cancelled before a model call, although the reply to its claim arrives after the cancellation: %s",
  async (input) => {
    const agent = await createAgent(input, { limits: { max_concurrent_runs: 1 } });
    // Delays the claim of the run until `far` has found out that the run was queued.
    const blocker = await engine.connect();
    await blocker.query("begin");
    await blocker.query("select from agents where id = $1 for no key update", [agent.id]);
    proxy.changeWith(statement("start"), { type: "mute" });
    expect((await invoke(agent, input)).status).toBe(503);

    const [claimed, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const found = proxy.cutNext({ request: statement("read-started"), pass: claimed.promise });
    proxy.weather = { type: "fair" };
    proxy.drop({ hard: true });
    await found;
    // The run is claimed first, then cancelled, and then the reply to the claim arrives.
    let isClaiming = false;
    const commitOfClaim = (bytes: Buffer) => {
      isClaiming ||= statement("claim-limited")(bytes);
      return isClaiming && bytes.includes("commit");
    };
    const committed = proxy.cutNext({ request: commitOfClaim, pass: cancelled.promise });
    await blocker.query("rollback");
    blocker.release();
    await committed;
    if (input === "a process that stops") {
      void stopFar();
      await eventually("the process to stop its worker", async () => {
        const { rows } = await engine.query(
          "select from processes where id = $1 and not accepts_runs",
          [processId],
        );
        return rows.length === 1 || undefined;
      });
    }
    claimed.resolve();
    await eventually(
      "the request to cancel the run",
      async () => (await runOf(input))[0]?.must_end || undefined,
    );
    cancelled.resolve();
    await expectCancelled(input);
  },
);
