import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { blackHole, echo, says, startModelServer } from "../../test/model-server.ts";
import { startTargetServer } from "../../test/target-server.ts";
import { newId } from "../base/ids.ts";

/** Serves callers and executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

/** Starts a process that executes runs. */
async function startWorker(): Promise<{ processId: string; recordDeath: (id: string) => unknown }> {
  const processId = newId("prc");
  const worker = await beckon.another({ processId, settings: { BECKON_ROLE: "worker" } });
  onTestFinished(() => worker.stop());
  return { processId, recordDeath: (id) => worker.recordDeaths([id]) };
}

/**
 * Starts a run whose first model call asks for two orders at once. Both orders are large, and the
 * second arrives first. The second model call gets no response.
 */
async function twoLargeResults() {
  const [models, target] = [await startModelServer(), await startTargetServer()];
  onTestFinished(() => Promise.all([models.close(), target.close()]).then(() => undefined));
  const calls = ["a", "b"].map((order) => ({
    id: `call_${order}`,
    name: "read",
    arguments: JSON.stringify({ order }),
  }));
  const text = "y".repeat(70_000);
  models.script([says({ text, calls }), blackHole, echo()]);
  const second = Promise.withResolvers<void>();
  target.answer = async ({ url }, response) => {
    if (url === "/orders/a") await second.promise;
    response.setHeader("content-type", "text/plain").end(url + "x".repeat(100_000));
  };
  const parameters = {
    type: "object",
    properties: { order: { type: "string" } },
    required: ["order"],
  };
  const read = { name: "read", description: "Reads", method: "GET", parameters };
  const operations = [{ ...read, url: `${target.url}/orders/{order}` }];
  const { name } = await beckon.createProvider(models.url, newId("agt").slice(4));
  const agent = await beckon.createAgent({
    model: `${name}/scripted`,
    tools: [
      {
        type: "http",
        name: "shop",
        allowed_hosts: [target.host],
        max_response_bytes: 200_000,
        operations,
      },
    ],
  });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  const events = async (): Promise<{ type: string; data: Record<string, unknown> }[]> =>
    (await beckon.call(`/runs/${body.run_id}/events`)).body.data;
  await eventually("the first result", async () =>
    (await events()).some(({ type }) => type === "run.tool_result") ? true : undefined,
  );
  second.resolve();
  await eventually("the second model call", () => models.requests.length === 2 || undefined);
  return { runId: body.run_id as string, models, events };
}

test("large results of parallel calls name their calls, in any order of their ends", async () => {
  await startWorker();
  const { events } = await twoLargeResults();
  const all = await events();
  expect(all.find(({ type }) => type === "run.step")?.data).toMatchObject({
    step: 1,
    usage: { output_tokens: expect.any(Number) },
    artifact_id: expect.any(String),
  });
  const results = all.filter(({ type }) => type === "run.tool_result").map(({ data }) => data);
  const others = { step: 1, tool: "read", outcome: "ok", duration_ms: expect.any(Number) };
  const reference = { artifact_id: expect.stringMatching(/^art_/), bytes: expect.any(Number) };
  expect(results).toEqual([
    { ...others, call_id: "call_b", ...reference },
    { ...others, call_id: "call_a", ...reference },
  ]);
});

test("a run with large events resumes after a crash with the same prompt", async () => {
  const dead = await startWorker();
  const { runId, models, events } = await twoLargeResults();
  const rescuer = await startWorker();
  await rescuer.recordDeath(dead.processId);
  await eventually("the end of the run", async () =>
    (await events()).some(({ type }) => type === "run.finished") ? true : undefined,
  );
  expect((await beckon.call(`/runs/${runId}`)).body.data).toMatchObject({ attempt: 2 });
  const [, first, again] = models.requests.map(({ body }) => JSON.stringify(body));
  expect(again).toBe(first);
});
