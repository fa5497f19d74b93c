import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { says, startModelServer } from "../../test/model-server.ts";

/** Tests what runs cost at the prices of their models. */

const model = await startModelServer();
const folder = mkdtempSync(join(tmpdir(), "beckon-prices-"));
afterAll(async () => {
  await model.close();
  rmSync(folder, { recursive: true });
});
const pricesFile = join(folder, "prices.json");
writeFileSync(pricesFile, JSON.stringify({ models: { "filed/*": { input: 2, output: 8 } } }));

const beckon = await startTestBeckon({ BECKON_PRICES: pricesFile });
beforeEach(() => {
  model.reset();
  model.script(
    says({
      text: "Hello",
      usage: { prompt_tokens: 1_001, completion_tokens: 10, cached_tokens: 501 },
    }),
  );
});

/**
 * Starts a run of the agent and returns its cost, which must be the same in the run, in its events
 * and in the ledger.
 */
async function costOf(agent: { id: string; token: string }) {
  const { status, body } = await beckon.invoke(agent, "Hello");
  expect(status).toBe(200);
  const { data: run } = (await beckon.call(`/runs/${body.run_id}`)).body;
  const { data: events } = (await beckon.call(`/runs/${body.run_id}/events`)).body;
  const costs = events
    .filter(({ type }: { type: string }) => type === "run.step" || type === "run.finished")
    .map(({ data }: { data: { cost_micros: number | null } }) => data.cost_micros);
  const { rows } = await beckon.db.database.engine.query(
    `select cost_micros::int, standard_cost_micros::int, price_origin from usage_entries
      where run_id = $1`,
    [body.run_id],
  );
  const [entry] = rows;
  expect([rows.length, ...costs]).toEqual([1, entry.cost_micros, entry.cost_micros]);
  expect(run.cost_micros).toBe(entry.cost_micros);
  return [entry.cost_micros, entry.standard_cost_micros, entry.price_origin];
}
const patch = (path: string, body: unknown) => beckon.call(path, { method: "PATCH", body });

test("a run of demo/echo costs nothing", async () => {
  expect(await costOf(await beckon.createAgent())).toEqual([0, 0, "free"]);
});

test("a run has the price that the operator set, rounded up", async () => {
  await beckon.createProvider(model.url, "filed");
  const agent = await beckon.createAgent({ model: "filed/large" });
  expect(await costOf(agent)).toEqual([2_082, 2_082, "operator"]);
});

test("each run has the price that the workspace has set when it starts", async () => {
  const provider = await beckon.createProvider(model.url, "own");
  const agent = await beckon.createAgent({ model: "own/large" });
  expect(await costOf(agent)).toEqual([null, null, null]);

  await patch(`/providers/${provider.id}`, { free: true });
  expect(await costOf(agent)).toEqual([0, null, "free"]);

  const { data: price } = (
    await beckon.call("/prices", {
      body: {
        model: "own/large",
        input_micros_per_million: 1_000_000,
        output_micros_per_million: 3_000_000,
        cached_input_micros_per_million: 100_000,
      },
    })
  ).body;
  // The cost in micro-dollars is 500 + 50.1 + 30, rounded up.
  expect(await costOf(agent)).toEqual([581, null, "workspace"]);

  await patch(`/prices/${price.id}`, { cached_input_micros_per_million: null });
  expect(await costOf(agent)).toEqual([1_031, null, "workspace"]);

  await beckon.call(`/prices/${price.id}`, { method: "DELETE" });
  await patch(`/providers/${provider.id}`, { free: false });
  expect(await costOf(agent)).toEqual([null, null, null]);
});

test("the workspace's price leaves the standard cost as it is", async () => {
  const body = {
    model: "filed/own",
    input_micros_per_million: 0,
    output_micros_per_million: 100_000,
  };
  await beckon.call("/prices", { body });
  const agent = await beckon.createAgent({ model: "filed/own" });
  expect(await costOf(agent)).toEqual([1, 2_082, "workspace"]);
});
