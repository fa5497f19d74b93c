import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { pricedWorkspace, wrongWithBudgets } from "../../test/limits.ts";
import { says, startModelServer } from "../../test/model-server.ts";

// This server does not sweep during the test.
const beckon = await startTestBeckon({}, { pollsPerSweep: 1_000_000 });
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());
server.script(says({ text: "done", usage: { prompt_tokens: 1, completion_tokens: 300 } }));

/** Starts a server that sweeps every second, until the end of the test. */
async function sweep(): Promise<void> {
  const sweeping = await beckon.another({ settings: { BECKON_ROLE: "api" }, pollsPerSweep: 1 });
  onTestFinished(() => sweeping.stop());
}

test("limits apply again after the database's clock was ahead for a moment", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: 300 } });
  await beckon.call("/plans", { body: { name: "large", cost_micros: 1_000_000 } });
  await beckon.call(`/workspace-plans/${workspace.id}`, {
    method: "PATCH",
    body: { plan: "large" },
  });
  await workspace.ceiling("agent", agent.id, 1_000);
  await workspace.ceiling("workspace", workspace.id, 2_000);
  const invoke = async () => (await beckon.invoke(agent, "Hello")).body;
  expect(await invoke()).toMatchObject({ ok: true });
  const periods = async () => {
    const { rows } = await engine.query(
      `select scope_kind, starts, ends, spent, allowed, refused, crossed from budgets
        where workspace_id = $1 order by scope_kind`,
      [workspace.id],
    );
    return rows;
  };
  const before = await periods();

  // A period began while the clock was a year ahead, and the limits were reached in it.
  await engine.query(
    `update budgets set starts = now() + interval '1 year', ends = now() + interval '366 days',
      spent = allowed, refused = true, crossed = 100 where workspace_id = $1`,
    [workspace.id],
  );
  expect(await invoke()).toMatchObject({ ok: false });
  await sweep();
  await eventually("the correction", async () => {
    const { rows } = await engine.query("select from budgets where starts > now()");
    return rows.length === 0 || undefined;
  });
  expect(await periods()).toEqual(before);
  expect(await invoke()).toMatchObject({ ok: true });
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
});

test("limits are corrected although those of another workspace cannot be", async () => {
  const workspaces = [
    await pricedWorkspace(beckon, server),
    await pricedWorkspace(beckon, server),
  ] as const;
  for (const workspace of workspaces) await workspace.ceiling("workspace", workspace.id, 2_000);
  const [failing, other] = workspaces.map(({ id }) => id).toSorted();
  await engine.query(
    `update budgets set starts = now() + interval '1 year', ends = now() + interval '366 days'
      where workspace_id = any ($1)`,
    [[failing, other]],
  );
  await engine.query(`create function fail() returns trigger language plpgsql as
    $$ begin raise 'no change'; end $$`);
  await engine.query(`create trigger fail before update on budgets for each row
    when (old.workspace_id = '${failing}') execute function fail()`);
  onTestFinished(async () => void (await engine.query("drop function fail cascade")));
  await sweep();
  await eventually("the correction", async () => {
    const { rows } = await engine.query<{ id: string }>(
      "select workspace_id as id from budgets where starts > now()",
    );
    return rows.every(({ id }) => id === failing) || undefined;
  });
});
