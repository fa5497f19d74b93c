import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { rejectWrites } from "../../../test/reject-writes.ts";
import { allSucceeded } from "../../../test/runs-of.ts";

/** Executes no runs, so a released run stays queued until a test starts a server that executes. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });

/** Starts a process that executes runs, and stops it at the end of the test at the latest. */
async function startServer() {
  const server = await beckon.another({
    settings: { BECKON_ROLE: "all", BECKON_DRAIN_SECONDS: "0" },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.stop());
  onTestFinished(stop);
  return { stop };
}

/**
 * Rejects the ends of runs, as after a revoked privilege, and starts a run. Returns when the engine
 * has failed to end the run, and the process has failed twice to end it as `interrupted`.
 */
async function startUnendable() {
  const agent = await beckon.createAgent();
  const server = await startServer();
  const writes = await rejectWrites(beckon, "insert on run_results", "42501");
  const invoked = beckon.invoke(agent, "Hello");
  await eventually("the third write", async () => (await writes.count()) > 2 || undefined);
  const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
  expect(run.status).toBe("running");
  return { agent, id: run.id, invoked, server, writes };
}

/** Returns the metered model calls of a run. */
async function ledgerOf(id: string) {
  const { rows } = await beckon.db.database.engine.query<object>(
    `select outcome, input_tokens::int as input, output_tokens::int as output, estimated
      from usage_entries where run_id = $1 order by seq, number`,
    [id],
  );
  return rows;
}

const answered = { outcome: "answered", input: 4, output: 3, estimated: false };

const runOf = async (id: string) => (await beckon.call(`/runs/${id}`)).body.data;

test("a run whose end the database rejects for a while ends when the database accepts it", async () => {
  const { id, invoked, writes } = await startUnendable();
  await writes.accept();
  const { status, body } = await invoked;
  expect([status, body.code, body.run_id]).toEqual([500, "interrupted", id]);
  expect((await runOf(id)).status).toBe("failed");
  expect((await beckon.call(`/runs/${id}`, { method: "DELETE" })).status).toBe(204);
});

test("the model calls of a run whose end the database rejects for a while are metered", async () => {
  const { id, invoked, writes } = await startUnendable();
  await writes.accept();
  await invoked;
  expect((await runOf(id)).usage).toMatchObject({ input_tokens: 4, output_tokens: 3 });
  expect((await runOf(id)).usage).not.toHaveProperty("estimated");
  expect(await ledgerOf(id)).toEqual([answered]);
});

test("a run that is cancelled while the database rejects its end ends as cancelled", async () => {
  const { id, invoked, writes } = await startUnendable();
  expect((await beckon.call(`/runs/${id}/cancel`, { method: "POST" })).status).toBe(200);
  // A write that began before the cancellation would end the run as interrupted.
  const before = await writes.count();
  const isLater = async () => (await writes.count()) > before + 1 || undefined;
  await eventually("a write that began after the cancellation", isLater);
  await writes.accept();
  expect((await invoked).body).toMatchObject({ run_id: id, code: "cancelled" });
  expect((await runOf(id)).status).toBe("cancelled");
  expect(await ledgerOf(id)).toEqual([answered]);
});

test("a stopping process releases a run whose end the database rejects, and another one executes it", async () => {
  const { agent, id, invoked, server, writes } = await startUnendable();
  await server.stop();
  expect(await runOf(id)).toMatchObject({ status: "queued", attempt: 1 });
  await writes.accept();
  await startServer();
  expect((await invoked).body).toMatchObject({ run_id: id, output: "Hello" });
  await allSucceeded(beckon, agent.id, 1);
  expect(await ledgerOf(id)).toEqual([answered, answered]);
});
