import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { heldTool } from "../../test/held-tool.ts";
import { says, startModelServer } from "../../test/model-server.ts";
import { newId } from "../base/ids.ts";

/** It answers callers and executes nothing. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

test("runs of a process that died are resumed within the budget: their journals are not all read at once", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.script((request, index) => {
    const answered = request.body.messages.some(({ role }) => role === "tool");
    const calls = [{ id: "call_1", name: "hold", arguments: '{"kib":1}' }];
    return says(answered ? { text: "done" } : { text: "x".repeat(1_000_000), calls })(request, index);
  });
  const { name } = await beckon.createProvider(server.url);
  const agent = await beckon.createAgent({ model: `${name}/scripted` });
  const begun = Array.from({ length: 12 }, () => beckon.invoke(agent, "hello", { prefer: "respond-async" }));

  const [first, second] = [heldTool(), heldTool()];
  const processId = newId("prc");
  const dead = await beckon.another({ processId, settings: { BECKON_ROLE: "worker" }, tools: [first.tool] });
  onTestFinished(() => dead.stop());
  onTestFinished(() => first.letGo());
  const runIds = (await Promise.all(begun)).map(({ body }) => body.run_id);
  await first.called(12);

  // A journal takes 8 MB while it is read, and runs of one workspace may hold 45 MiB.
  const settings = { BECKON_ROLE: "worker", BECKON_MEMORY_BUDGET_MIB: "96" };
  const rescuer = await beckon.another({ settings, tools: [second.tool] });
  onTestFinished(() => rescuer.stop());
  await rescuer.recordDeaths([processId]);
  const takenOver = async () => {
    const { rows } = await beckon.db.database.engine.query<{ runs: number }>("select count(*)::int as runs from runs where attempt = 2");
    return rows[0]?.runs ?? 0;
  };
  await second.called(5);
  await eventually("more runs taken over than there is memory for", async () => ((await takenOver()) > 5 ? true : undefined));
  expect(second.calls).toBe(5);
  second.letGo();
  for (const runId of runIds) {
    const run = await eventually(`the end of ${runId}`, async () => {
      const { body } = await beckon.call(`/runs/${runId}`);
      return body.data.finished_at === null ? undefined : body.data;
    });
    expect([run.status, run.output, run.attempt]).toEqual(["succeeded", "done", 2]);
  }
});
