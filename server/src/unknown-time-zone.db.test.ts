import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../test/beckon.ts";
import { eventually } from "../test/eventually.ts";
import { wrongWithBudgets } from "../test/limits.ts";
import { rejectWrites } from "../test/reject-writes.ts";
import { allSucceeded } from "../test/runs-of.ts";
import { type SeededAgent, seedAgent, seedProcess, startOne } from "../test/tenant.ts";

/** Its sweeps, apart from the first one, do not come during the tests. */
const beckon = await startTestBeckon({}, { pollsPerSweep: 1_000_000 });
const { database } = beckon.db;
const { engine } = database;

const loseZone = (workspaceId: string) =>
  engine.query("update workspaces set time_zone = 'Mars/Olympus' where id = $1", [workspaceId]);

/** Creates a workspace with an agent, and then makes its time zone one that does not exist. */
async function createZoneless({ limited = false, isDayOver = false } = {}) {
  const { id, key } = (await beckon.call("/workspaces", { body: { name: "Zone" } })).body.data;
  const call = (path: string, options = {}) => beckon.call(path, { credential: key, ...options });
  const agent = (await call("/agents", { body: { name: "Test", model: "demo/echo" } })).body.data;
  const { url } = (await call(`/agents/${agent.id}/triggers`, { body: { name: "Test" } })).body
    .data;
  const setLimit = { method: "PUT", body: { limit_micros: 1_000 } };
  if (limited) expect((await call(`/limits/workspace/${id}`, setLimit)).status).toBe(200);
  if (isDayOver)
    await engine.query(
      `update budgets set starts = starts - interval '2 days', ends = ends - interval '2 days'
        where workspace_id = $1`,
      [id],
    );
  await loseZone(id);
  return { id, agent, url, call };
}

test.each([
  ["without limits", { limited: false }],
  ["with limits", { limited: true }],
  ["with limits whose day is over", { limited: true, isDayOver: true }],
])(
  "a run in a workspace %s returns its answer although its time zone is unknown",
  async (_, options) => {
    const { id, agent, call } = await createZoneless(options);
    const { status, body } = await beckon.invoke(agent, "Hello");
    expect([status, body.output]).toEqual([200, "Hello"]);
    expect((await call(`/workspaces/${id}`)).body.data.time_zone).toBe("UTC");
    expect((await call("/audit?action=workspace.update")).body.data).toMatchObject([
      {
        actor: "system",
        target: id,
        data: { before: { time_zone: "Mars/Olympus" }, after: { time_zone: "UTC" } },
      },
    ]);
    expect(await wrongWithBudgets(engine, id)).toEqual([]);
  },
);

test.each([
  ["a journal write", {}],
  ["a reservation", { limited: true, isDayOver: true }],
])(
  "a run returns its answer if the database is unavailable while %s replaces its time zone",
  async (_, options) => {
    const { agent } = await createZoneless(options);
    const rejected = await rejectWrites(beckon, "update of time_zone on workspaces", "57P03");
    const response = beckon.invoke(agent, "Hello");
    await eventually(
      "a rejected replacement",
      async () => (await rejected.count()) > 0 || undefined,
    );
    await rejected.accept();
    const { status, body } = await response;
    expect([status, body.output]).toEqual([200, "Hello"]);
  },
);

test("runs that a trigger starts succeed although the time zone of the workspace is unknown", async () => {
  const { agent, url } = await createZoneless();
  expect((await beckon.call(url, { credential: null, body: "Hello" })).status).toBe(200);
  await allSucceeded(beckon, agent.id, 1);
});

test("a sweep replaces an unknown time zone, so that usage and limits can be read again", async () => {
  const { id, call } = await createZoneless({ limited: true });
  const sweeping = await beckon.another({ settings: { BECKON_ROLE: "api" }, pollsPerSweep: 1 });
  onTestFinished(() => sweeping.stop());
  // Startup has replaced the time zone above.
  await loseZone(id);
  for (const path of ["/usage", "/limits", "/plan", "/runs/stats?bucket=day"])
    await eventually(path, async () => (await call(path)).status === 200 || undefined);
  expect((await call("/usage")).body.data.time_zone).toBe("UTC");
});

test("an unknown time zone of one workspace does not stop the failover of any", async () => {
  const owner = await seedProcess(database);
  const agents: SeededAgent[] = [];
  for (const _ of [1, 2]) agents.push(await seedAgent(database, { limits: { max_attempts: 1 } }));
  for (const agent of agents) await startOne(database, agent, { owner });
  await loseZone(agents[0]?.workspaceId ?? "");
  await engine.query("update processes set died_at = now() where id = $1", [owner]);
  await eventually("the ends of both runs", async () => {
    const { rows } = await engine.query(
      "select from runs where agent_id = any ($1) and status = 'failed'",
      [agents.map(({ agentId }) => agentId)],
    );
    return rows.length === 2 || undefined;
  });
});
