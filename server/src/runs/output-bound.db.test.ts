import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { type PricedWorkspace, pricedWorkspace, wrongWithBudgets } from "../../test/limits.ts";
import { says, startModelServer } from "../../test/model-server.ts";

/** Tests which output limit model calls get under which limits, over HTTP. */

const beckon = await startTestBeckon();
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());

const answer = says({ text: "done", usage: { prompt_tokens: 10, completion_tokens: 20_000 } });

beforeEach(() => {
  server.reset();
  server.script(answer);
});

const sentBounds = () => server.requests.map(({ body }) => body.max_tokens);

async function setPlan(
  { id }: PricedWorkspace,
  name: string,
  allowances: object,
  takesEffect = "now",
): Promise<void> {
  const created = await beckon.call("/plans", { body: { name, ...allowances } });
  expect(created.status).toBe(201);
  const set = await beckon.call(`/workspace-plans/${id}`, {
    method: "PATCH",
    body: { plan: name, takes_effect: takesEffect },
  });
  expect(set.status).toBe(200);
}

test("an answer that is truncated at the bound of a limit far away says which setting to raise", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent();
  await workspace.ceiling("agent", agent.id, 1_000_000_000);
  const usage = { prompt_tokens: 10, completion_tokens: 16_384 };
  server.script(says({ text: "cut", finish: "length", usage }));
  expect((await beckon.invoke(agent, "Hello")).body).toMatchObject({
    code: "model_error",
    error: expect.stringMatching(/at most 16384 tokens .* limits\.reserve_output_tokens/),
  });
  expect(sentBounds()).toEqual([16_384]);
});

describe("without an amount of cost or tokens, no output bound is sent", () => {
  /** Invokes three runs. What the last one can use is reserved together with its start. */
  async function invokeThree({ id }: PricedWorkspace, agent: { id: string; token: string }) {
    for (const message of ["one", "two", "six"])
      expect((await beckon.invoke(agent, message)).status).toBe(200);
    await eventually("returned reservations", async () => {
      const { rows } = await engine.query("select from reservations where workspace_id = $1", [id]);
      return rows.length === 0 || undefined;
    });
    expect(await wrongWithBudgets(engine, id)).toEqual([]);
  }

  test("before a planned plan takes effect", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    await setPlan(workspace, "planned", { tokens: 1_000_000 }, "period_end");
    await invokeThree(workspace, agent);
    expect(sentBounds()).toEqual([undefined, undefined, undefined]);
  });

  test("under a plan that limits only voice", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    const agent = await workspace.agent();
    await setPlan(workspace, "voice", { voice_ms: 1_000 });
    await invokeThree(workspace, agent);
    expect(sentBounds()).toEqual([undefined, undefined, undefined]);
  });

  test("except for that of the agent and of the run's own limit", async () => {
    const workspace = await pricedWorkspace(beckon, server);
    await setPlan(workspace, "own", { tokens: 1_000_000 }, "period_end");
    await invokeThree(
      workspace,
      await workspace.agent({ model_settings: { max_output_tokens: 30_000 } }),
    );
    await invokeThree(workspace, await workspace.agent({ limits: { max_cost_micros: 1_000_000 } }));
    expect(sentBounds()).toEqual([30_000, 30_000, 30_000, 16_384, 16_384, 16_384]);
  });
});
