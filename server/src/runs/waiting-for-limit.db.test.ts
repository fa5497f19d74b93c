import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { pricedWorkspace } from "../../test/limits.ts";
import { held, says, startModelServer } from "../../test/model-server.ts";
import { allSucceeded, statesOf } from "../../test/runs-of.ts";

/** Of the 16 runs that this process can execute, two of one workspace can wait for a limit. */
const beckon = await startTestBeckon({ BECKON_MAX_RUNS: "16", BECKON_METRICS_PORT: "0" });
const server = await startModelServer();
afterAll(() => server.close());

const reservedTokens = 60_000;

/**
 * A workspace whose ceiling allows only one model call at a time, with an agent whose first run
 * makes this call. The call ends at `release`, and later calls at once.
 */
async function narrowWorkspace() {
  const released = Promise.withResolvers<void>();
  const answer = says({ text: "done", usage: { prompt_tokens: 1, completion_tokens: 1 } });
  server.reset();
  server.script(held(released.promise, answer));
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: reservedTokens } });
  await workspace.ceiling("agent", agent.id, reservedTokens * 1.5);
  const { url } = await workspace.trigger(agent.id);
  const fire = async (count: number) => {
    const fired = Array.from({ length: count }, (_, index) =>
      beckon.call(url, { credential: null, body: `${index}` }),
    );
    for (const { status } of await Promise.all(fired)) expect(status).toBe(200);
  };
  await fire(1);
  await eventually("the call", () => server.requests.length === 1 || undefined);
  return { workspace, agent, fire, release: () => released.resolve() };
}

/** Waits until so many runs of the workspace wait for a limit. */
const waiting = (workspaceId: string, count: number) =>
  eventually(`${count} waiting runs`, async () => {
    const { rows } = await beckon.db.database.engine.query(
      "select from reservations where workspace_id = $1 and state = 'waiting'",
      [workspaceId],
    );
    return rows.length === count || undefined;
  });

test("runs that wait for a limit leave capacity to other workspaces and agents", async () => {
  const { workspace, agent, fire, release } = await narrowWorkspace();
  await fire(1);
  await waiting(workspace.id, 1);
  const other = await workspace.agent({ model: "demo/echo" });
  expect((await beckon.invoke(other, "same workspace")).body.output).toBe("same workspace");
  await fire(40);
  const stranger = await beckon.createAgent();
  const signal = AbortSignal.timeout(10_000);
  const answer = await beckon.call(`/agents/${stranger.id}/invoke`, {
    credential: stranger.token,
    body: { input: "another workspace" },
    signal,
  });
  expect(answer.body.output).toBe("another workspace");
  await waiting(workspace.id, 2);
  // All runs of the workspace that can wait are those of one agent at its ceiling. Other agents
  // start new runs and those of their queues all the same.
  for (const limits of [{}, { max_concurrent_runs: 1 }]) {
    const { id, token } = await workspace.agent({ model: "demo/echo", limits });
    const { body } = await beckon.call(`/agents/${id}/invoke`, {
      credential: token,
      body: { input: "same workspace" },
      signal,
    });
    expect(body.output).toBe("same workspace");
  }
  await eventually("the metric of two waiting runs", async () => {
    const measured = await beckon.metric("beckon_runs_waiting", { reason: "limit" });
    return measured === 2 || undefined;
  });
  expect(await statesOf(beckon, agent.id)).toEqual({ running: 3, queued: 39 });

  release();
  await allSucceeded(beckon, agent.id, 42);
  const { rows } = await beckon.db.database.engine.query<{ id: string }>(
    "select id from runs where agent_id = $1 order by started_at, id",
    [agent.id],
  );
  const started = rows.map(({ id }) => id);
  expect(started).toEqual(started.toSorted());
});
