import { expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { eventually } from "../../../test/eventually.ts";
import { rejectWrites } from "../../../test/reject-writes.ts";

const beckon = await startTestBeckon();

test("a run that fails because of an internal error ends", async () => {
  const agent = await beckon.createAgent();
  await beckon.db.database.engine.query(
    "update agent_versions set config = '{}' where agent_id = $1",
    [agent.id],
  );
  const { status, body } = await beckon.invoke(agent, "Hello");
  expect([status, body.code]).toEqual([500, "interrupted"]);
  const run = await beckon.call(`/runs/${body.run_id}`);
  expect(run.body.data).toMatchObject({ status: "failed", error: { code: "interrupted" } });
});

test("its capacity is released, and other agents continue", async () => {
  const agent = await beckon.createAgent();
  expect((await beckon.invoke(agent, "Hello")).body.output).toBe("Hello");
});

/**
 * Rejects the ends of runs as a revoked privilege does, until a run has failed to end by itself, to
 * end as `interrupted`, and to end a second time. Returns the run.
 */
async function startUnendable() {
  const agent = await beckon.createAgent();
  const writes = await rejectWrites(beckon, "insert on run_results", "42501");
  const invoked = beckon.invoke(agent, "Hello");
  await eventually("the third write", async () => (await writes.count()) > 2 || undefined);
  const { body } = await beckon.call(`/agents/${agent.id}/runs`);
  const [{ id, status }] = body.data;
  expect(status).toBe("running");
  return { id, invoked, writes };
}

test("a run whose end the database rejects for a while ends when the database accepts it", async () => {
  const { id, invoked, writes } = await startUnendable();
  await writes.accept();
  const { status, body } = await invoked;
  expect([status, body.code, body.run_id]).toEqual([500, "interrupted", id]);
  expect((await beckon.call(`/runs/${id}`)).body.data.status).toBe("failed");
  expect((await beckon.call(`/runs/${id}`, { method: "DELETE" })).status).toBe(204);
});

test("a run that is cancelled while the database rejects its end ends as cancelled", async () => {
  const { id, invoked, writes } = await startUnendable();
  expect((await beckon.call(`/runs/${id}/cancel`, { method: "POST" })).status).toBe(200);
  await writes.accept();
  expect((await invoked).body).toMatchObject({ run_id: id, code: "cancelled" });
  expect((await beckon.call(`/runs/${id}`)).body.data.status).toBe("cancelled");
});
