import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { newId } from "../../base/ids.ts";

/** Executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

/** Starts a run, and returns it once its process drains. */
async function startDrained() {
  const processId = newId("prc");
  const server = await beckon.another({
    processId,
    settings: { BECKON_ROLE: "all", BECKON_DRAIN_SECONDS: "20" },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.stop());
  onTestFinished(stop);
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const invoked = beckon.call(`${server.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
  });
  await held.reached(1);
  void stop();
  const { engine } = beckon.db.database;
  await eventually("the drain", async () => {
    const { rows } = await engine.query(
      "select from processes where id = $1 and not accepts_runs",
      [processId],
    );
    return rows.length === 1 || undefined;
  });
  const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  return { runId: run.id as string, invoked };
}

test("a run can be cancelled while its process drains", async () => {
  const { runId, invoked } = await startDrained();
  expect((await beckon.call(`/runs/${runId}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await invoked).body.code).toBe("cancelled");
});

test("a run is cancelled while its process drains, even if the message about it is lost", async () => {
  const { runId, invoked } = await startDrained();
  await beckon.db.database.engine.query(
    "update runs set cancel_requested_at = now() where id = $1",
    [runId],
  );
  expect((await invoked).body.code).toBe("cancelled");
});
