import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { entriesOf, wrongWithLedger } from "../../../test/ledger.ts";
import { eventTypesOf } from "../../../test/runs-of.ts";
import { newId } from "../../base/ids.ts";

/** Executes no runs. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { engine } = beckon.db.database;

/** Requests the cancellation of a run without a message to the process that executes it. */
const requestCancel = (runId: string) =>
  engine.query("update runs set cancel_requested_at = now() where id = $1", [runId]);

/** Starts a run, and returns it once it calls its model. */
async function startRun(drainSeconds: string) {
  const processId = newId("prc");
  const server = await beckon.another({
    processId,
    settings: { BECKON_ROLE: "all", BECKON_DRAIN_SECONDS: drainSeconds },
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
  const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  return { processId, stop, runId: run.id as string, invoked };
}

/** Starts a run, and returns it once its process drains. */
async function startDrained() {
  const { processId, stop, ...started } = await startRun("20");
  void stop();
  await eventually("the drain", async () => {
    const { rows } = await engine.query(
      "select from processes where id = $1 and not accepts_runs",
      [processId],
    );
    return rows.length === 1 || undefined;
  });
  return started;
}

test("a run can be cancelled while its process drains", async () => {
  const { runId, invoked } = await startDrained();
  expect((await beckon.call(`/runs/${runId}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await invoked).body.code).toBe("cancelled");
});

test("a run is cancelled while its process drains, even if the message about it is lost", async () => {
  const { runId, invoked } = await startDrained();
  await requestCancel(runId);
  expect((await invoked).body.code).toBe("cancelled");
});

test("a run that its process would release ends if its cancellation was requested, and its lost call is metered", async () => {
  const { runId, stop } = await startRun("0");
  await requestCancel(runId);
  await stop();
  const { data } = (await beckon.call(`/runs/${runId}`)).body;
  expect(data).toMatchObject({
    status: "cancelled",
    error: { code: "cancelled" },
    usage: { estimated: true },
  });
  const types = await eventTypesOf(beckon, runId);
  expect(types.slice(types.indexOf("run.started"))).not.toContain("run.queued");
  expect(await entriesOf(engine, runId)).toMatchObject([{ outcome: "lost", estimated: true }]);
  expect(await wrongWithLedger(engine)).toEqual([]);
});
