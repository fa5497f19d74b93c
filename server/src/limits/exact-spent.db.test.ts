import { afterAll, beforeEach, expect, test } from "vitest";
import { addUsage } from "../../test/add-usage.ts";
import { startTestBeckon } from "../../test/beckon.ts";
import { pricedWorkspace, wrongWithBudgets } from "../../test/limits.ts";
import { says, startModelServer } from "../../test/model-server.ts";

/**
 * Tests the stored amount that was spent of a limit. After the response to a request that creates,
 * changes or deletes a limit, this amount must be the sum of the entries in the usage ledger, even
 * while runs write further entries.
 */

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());

const tokens = 300;
beforeEach(() => {
  server.reset();
  server.script(says({ text: "done", usage: { prompt_tokens: 10, completion_tokens: tokens } }));
});

/** Keeps `parallel` invokes in progress until `work` is done. @returns the number of responses. */
async function underLoad(
  invoke: () => Promise<{ status: number }>,
  parallel: number,
  work: () => Promise<void>,
): Promise<number> {
  let isDone = false;
  let answers = 0;
  const loops = Array.from({ length: parallel }, async () => {
    while (!isDone) {
      const { status } = await invoke();
      expect(status).toBe(200);
      answers += 1;
    }
  });
  await work().finally(() => {
    isDone = true;
  });
  await Promise.all(loops);
  return answers;
}

test("ceilings and plans that change under load count each entry exactly once", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: tokens } });
  const plan = async (name: string) => {
    const answer = await beckon.call(`/workspace-plans/${workspace.id}`, {
      method: "PATCH",
      body: { plan: name },
    });
    expect(answer.status).toBe(200);
  };
  await beckon.call("/plans", {
    body: { name: "large", tokens: 1_000_000_000, cost_micros: 1_000_000_000 },
  });
  const answers = await underLoad(
    () => beckon.invoke(agent, "Hello"),
    20,
    async () => {
      for (let round = 0; round < 5; round++) {
        await workspace.ceiling("agent", agent.id, 1_000_000_000);
        await workspace.ceiling("workspace", workspace.id, 1_000_000_000);
        await plan("large");
        expect(await wrongWithBudgets(engine)).toEqual([]);
        await workspace.ceiling("agent", agent.id, 2_000_000_000);
        await workspace.call(`/limits/agent/${agent.id}`, undefined, { method: "DELETE" });
        await workspace.call(`/limits/workspace/${workspace.id}`, undefined, { method: "DELETE" });
        await plan("unlimited");
      }
      await workspace.ceiling("agent", agent.id, 1_000_000_000);
    },
  );
  expect(await wrongWithBudgets(engine)).toEqual([]);
  const { data } = (await workspace.call(`/limits/agent/${agent.id}`)).body;
  expect([data.spent_micros, data.reserved_micros]).toEqual([answers * tokens, 0]);
});

test("use of a period that ended does not count in the next one, if that would have begun earlier", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: tokens } });
  const plan = (await beckon.call("/plans", { body: { name: "mid", tokens: 1_000_000 } })).body
    .data;
  const path = `/workspace-plans/${workspace.id}`;
  await beckon.call(path, { method: "PATCH", body: { plan: "mid" } });
  await workspace.ceiling("agent", agent.id, 1_000_000);
  await beckon.invoke(agent, "Hello");
  // Makes the month of the plan and the day of the ceiling end now, in the middle of a calendar
  // period. After a change of the anchor day or the time zone, periods can end like this.
  await beckon.call(path, { method: "PATCH", body: { anchor_day: 15 } });
  const { rows } = await engine.query<{ ends: Date }>(
    "update budgets set starts = now() - interval '28 days', ends = now() where workspace_id = $1 returning ends",
    [workspace.id],
  );
  const ended = rows[0]?.ends.toISOString();
  const starts = async () => [
    (await workspace.call("/plan")).body.data.starts_at,
    (await workspace.call(`/limits/agent/${agent.id}`)).body.data.starts_at,
  ];
  expect(await starts()).toEqual([ended, ended]);
  await beckon.invoke(agent, "Hello");
  expect(await starts()).toEqual([ended, ended]);
  await beckon.call(`/plans/${plan.id}`, { method: "PATCH", body: { cost_micros: 1_000_000 } });
  const { metrics } = (await workspace.call("/plan")).body.data;
  expect(metrics).toMatchObject([
    { metric: "tokens", used: 10 + tokens },
    {},
    {},
    { metric: "cost", used: tokens },
  ]);
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
});

test("a new plan counts what was used in the whole month, and nothing that was used before it", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const { id: agentId } = await workspace.agent();
  const dayMs = 86_400_000;
  // A month that begins tomorrow: the present one began four weeks ago or earlier.
  const anchor_day = new Date(Date.now() + dayMs).getUTCDate();
  await beckon.call("/plans", { body: { name: "wide", tokens: 1_000_000 } });
  const times = Array.from({ length: 80 }, (_, halfDays) => Date.now() - (halfDays * dayMs) / 2);
  await addUsage(
    beckon.db.database,
    { workspaceId: workspace.id, agentId },
    ...times.map((time) => ({ time: new Date(time), input_tokens: 1 })),
  );
  await beckon.call(`/workspace-plans/${workspace.id}`, {
    method: "PATCH",
    body: { plan: "wide", anchor_day },
  });
  const { starts_at, metrics } = (await workspace.call("/plan")).body.data;
  const since = Date.parse(starts_at);
  expect(Date.now() - since).toBeGreaterThan(27 * dayMs);
  expect(metrics[0]).toMatchObject({
    metric: "tokens",
    used: times.filter((time) => time >= since).length,
  });
  expect(await wrongWithBudgets(engine, workspace.id)).toEqual([]);
});
