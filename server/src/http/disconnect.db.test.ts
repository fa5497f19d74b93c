import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";

const beckon = await startTestBeckon();

const onlyRunOf = async (agentId: string) =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data[0];

test("a caller that disconnects does not stop its run", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const leaving = new AbortController();
  const invoked = beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    signal: leaving.signal,
  });
  await held.reached(1);
  leaving.abort();
  await expect(invoked).rejects.toThrow();
  held.release();
  const run = await eventually("the end of the run", async () => {
    const found = await onlyRunOf(agent.id);
    return found.finished_at === null ? undefined : found;
  });
  expect(run).toMatchObject({ status: "succeeded", output: "Hello" });
});

test("a caller that repeats its request with the same key gets the output", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const leaving = new AbortController();
  const headers = { "idempotency-key": "k" };
  const invoked = beckon.call(`/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
    headers,
    signal: leaving.signal,
  });
  await held.reached(1);
  leaving.abort();
  await expect(invoked).rejects.toThrow();
  held.release();
  const { status, body } = await beckon.invoke(agent, "Hello", headers);
  expect([status, body.output]).toEqual([200, "Hello"]);
  expect(held.requests.length).toBe(1);
});
