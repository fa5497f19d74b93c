import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { pricedWorkspace } from "../../test/limits.ts";
import { says, startModelServer } from "../../test/model-server.ts";

const beckon = await startTestBeckon({ BECKON_METRICS_PORT: "0" });
const { engine } = beckon.db.database;
const server = await startModelServer();
afterAll(() => server.close());

/** Output tokens of an answer, and their cost in micro-dollars. */
const tokens = 300;
const usage = { prompt_tokens: 10, completion_tokens: tokens };

test("of the starts that a spent limit rejects, 60 a minute create a run for each agent", async () => {
  const workspace = await pricedWorkspace(beckon, server);
  const agent = await workspace.agent({ model_settings: { max_output_tokens: tokens } });
  const other = await workspace.agent();
  await workspace.ceiling("workspace", workspace.id, tokens);
  server.script(says({ text: "done", usage }));
  const key = { "idempotency-key": "same" };
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);

  const rejected = await Promise.all(
    Array.from({ length: 70 }, () => beckon.invoke(agent, "Hello", key)),
  );
  for (const { status, headers, body } of rejected) {
    expect([status, body.code, body.limit.metric]).toEqual([500, "ceiling_reached", "cost"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
  const runs = rejected.filter(({ body }) => body.run_id !== undefined);
  expect(runs).toHaveLength(60);
  const { rows } = await engine.query(
    "select count(*)::int from runs where agent_id = $1 and status = 'failed'",
    [agent.id],
  );
  expect(rows).toEqual([{ count: 60 }]);
  expect((await beckon.invoke(other, "Hello")).body.run_id).toMatch(/^run_/);
  const code = { error_code: "ceiling_reached" };
  expect(await beckon.metric("beckon_limit_rejections_total", code)).toBe(71);

  // No rejected start has used up the Idempotency-Key.
  await workspace.ceiling("workspace", workspace.id, 2 * tokens);
  server.script(says({ text: "done", usage }));
  expect(await beckon.invoke(agent, "Hello", key)).toMatchObject({ status: 200 });
});
