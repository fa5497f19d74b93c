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
  const sweeping = await beckon.another({ settings: { BECKON_ROLE: "api" }, pollsPerSweep: 1 });
  onTestFinished(() => sweeping.stop());
  await eventually("the correction", async () => {
    const { rows } = await engine.query("select from budgets where starts > now()");
    return rows.length === 0 || undefined;
  });
  expect(await periods()).toEqual(before);
  expect(await invoke()).toMatchObject({ ok: true });
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
});
