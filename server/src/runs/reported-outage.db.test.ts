import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { captureLog } from "../../test/capture-log.ts";
import { eventually } from "../../test/eventually.ts";
import { blackHole, startModelServer } from "../../test/model-server.ts";

const { log, named } = captureLog();
const beckon = await startTestBeckon({ BECKON_METRICS_PORT: "0" }, { log });
const models = await startModelServer();
afterAll(() => models.close());
const calls = (outcome: string) => beckon.metric("beckon_model_calls_total", { outcome });

test("a provider that refuses connections is reported while runs wait for it", async () => {
  const provider = await beckon.createProvider("http://127.0.0.1:9/v1", "refusing");
  const agent = await beckon.createAgent({ model: "refusing/model" });
  const started = await Promise.all(
    Array.from({ length: 6 }, () => beckon.invoke(agent, "Hello", { prefer: "respond-async" })),
  );
  const waiting = () => beckon.metric("beckon_runs_waiting", { reason: "provider" });
  await eventually("runs to wait for the provider", async () => (await waiting()) > 3 || undefined);
  expect(named("provider failed")[0]).toMatchObject({
    level: "warn",
    model: `${provider.name}/model`,
    error_code: "model_error",
    reason: "The connection to the model's provider failed (ECONNREFUSED).",
  });
  expect(await calls("unsent")).toBeGreaterThanOrEqual(3);
  expect(await calls("failed")).toBe(0);
  expect(named("run ended")).toEqual([]);

  for (const { body } of started)
    await beckon.call(`/runs/${body.run_id}/cancel`, { method: "POST" });
  await eventually("no run to wait", async () => (await waiting()) === 0 || undefined);
});

test("a provider that accepts requests and never responds is reported", async () => {
  await beckon.createProvider(models.url, "hanging");
  models.script(blackHole);
  const agent = await beckon.createAgent({
    model: "hanging/model",
    limits: { timeout_seconds: 6 },
  });
  const { body } = await beckon.invoke(agent, "Hello");
  expect(body.code).toBe("deadline_exceeded");
  const line = named("provider failed").find(({ model }) => model === "hanging/model");
  expect(line).toMatchObject({
    level: "warn",
    run_id: body.run_id,
    agent_id: agent.id,
    error_code: "deadline_exceeded",
  });
  expect(line?.reason).toMatch(/^The provider got the request and sent nothing for \d s, until/);
  expect(await calls("lost")).toBe(1);
});
