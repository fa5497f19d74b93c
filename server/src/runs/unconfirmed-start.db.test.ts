import { afterAll, expect, test } from "vitest";
import { startTestBeckon, type TestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { brokenGuarantees } from "../../test/load.ts";
import { startModelServer } from "../../test/model-server.ts";
import { type NetworkCondition, startProxy, statement } from "../../test/proxy.ts";

/**
 * `far` is the process under test. It reaches the database through a proxy that simulates network
 * faults; `beckon` has a direct connection.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const proxy = await startProxy(beckon.db.url);
const far = await beckon.another({
  settings: { DATABASE_URL: proxy.urlFor(beckon.db.url), BECKON_ROLE: "all" },
});
const model = await startModelServer();
afterAll(async () => {
  await far.stop();
  await proxy.close();
  await model.close();
});
const provider = await beckon.createProvider(model.url);

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
  const { rows } = await beckon.db.database.engine.query<{ id: string; status: string }>(
    "select r.id, r.status from runs r join run_inputs i on i.run_id = r.id where i.payload = $1",
    [input],
  );
  return rows;
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
    const agent = await beckon.createAgent({ model: `${provider.name}/scripted`, ...more });
    // Makes `far` cache the agent and find the queue empty, so that only the start statement can
    // fail.
    await eventually(
      "a first response",
      async () => (await invoke(agent, `before ${name}`)).status === 200 || undefined,
    );

    proxy.changeWith(statement("start"), weather);
    const answer = await invoke(agent, name);
    expect(answer).toMatchObject({ status: 503, body: { ok: false, code: "unavailable" } });
    expect(answer.headers.get("retry-after")).toBeNull();
    expect(await runOf(name)).toHaveLength(weather.type === "mute" ? 1 : 0);

    proxy.weather = { type: "fair" };
    proxy.drop({ hard: true });
    await eventually(
      "the run, cancelled",
      async () => (await runOf(name))[0]?.status === "cancelled" || undefined,
    );
    expect(modelCallsOf(name)).toBe(0);
    expect(await runOf(name)).toHaveLength(1);
    expect(await brokenGuarantees(beckon.db.database, [])).toEqual([]);
  },
);
