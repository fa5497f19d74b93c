import { expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";

const beckon = await startTestBeckon();
const async = { prefer: "respond-async" };

/**
 * Creates an agent with one run that executes until `held.release()`, and `queued` runs in its
 * queue.
 */
async function busyAgent({ queued, limit = queued }: { queued: number; limit?: number }) {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1, max_queued_runs: limit },
  });
  await beckon.invoke(agent, "executing", async);
  await held.reached(1);
  for (let index = 0; index < queued; index++) await beckon.invoke(agent, `queued ${index}`, async);
  return { held, agent };
}

const limitsIn = ({ headers }: Answer) => [
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
];

const statusesOf = async (agentId: string): Promise<string[]> =>
  (await beckon.call(`/agents/${agentId}/runs`)).body.data.map(
    (run: { status: string }) => run.status,
  );

test("an invoke of an agent with a full queue is rejected with 429 and Retry-After", async () => {
  const { agent } = await busyAgent({ queued: 2 });
  const answer = await beckon.invoke(agent, "one more");
  const message =
    /queue .* is full: limits\.max_queued_runs is 2\. Try again later, or raise it\.$/;
  expectError(answer, 429, "agent_busy", message);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(limitsIn(answer)).toEqual([
    '"queued-runs";q=2;qu="concurrent-requests"',
    '"queued-runs";r=0;t=5',
  ]);
});

test("a rejected key gets the limit too, and a successful caller gets none", async () => {
  const { agent, held } = await busyAgent({ queued: 1 });
  expect(limitsIn(await beckon.invoke({ id: agent.id, token: beckon.key }, "one more"))[0]).toMatch(
    /q=1;/,
  );
  held.release();
  await eventually(
    "an empty queue",
    async () => (await statusesOf(agent.id)).every((status) => status === "succeeded") || undefined,
  );
  expect(limitsIn(await beckon.invoke(agent, "Hello"))).toEqual([null, null]);
});

test("a fire at an agent with a full queue is rejected with 429 and Retry-After", async () => {
  const { agent } = await busyAgent({ queued: 1 });
  const { url } = await beckon.createTrigger(agent.id);
  const answer = await beckon.call(url, { credential: null, body: "one more" });
  expectError(answer, 429, "agent_busy");
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(limitsIn(answer)).toEqual([
    '"queued-runs";q=1;qu="concurrent-requests"',
    '"queued-runs";r=0;t=5',
  ]);
});

test("a request that is rejected for a full queue creates no run", async () => {
  const { agent } = await busyAgent({ queued: 1 });
  await beckon.invoke(agent, "one more");
  expect(await statusesOf(agent.id)).toEqual(["queued", "running"]);
});

test("simultaneous requests fill the queue and no more", async () => {
  const { agent } = await busyAgent({ queued: 0, limit: 3 });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => beckon.invoke(agent, "Hello", async)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([
    202,
    202,
    202,
    ...Array(7).fill(429),
  ]);
});

test("an agent with a concurrency limit never executes more runs at once, and all of them in the end", async () => {
  const { agent, held } = await busyAgent({ queued: 3 });
  expect((await statusesOf(agent.id)).filter((status) => status === "running").length).toBe(1);
  expect(held.requests.length).toBe(1);
  held.release();
  await eventually(
    "the end of all runs",
    async () => (await statusesOf(agent.id)).every((status) => status === "succeeded") || undefined,
  );
});

test("an agent accepts runs again when its queue is empty", async () => {
  const { agent, held } = await busyAgent({ queued: 1 });
  expect((await beckon.invoke(agent, "one more", async)).status).toBe(429);
  held.release();
  await held.reached(2);
  expect((await beckon.invoke(agent, "one more")).status).toBe(200);
});

test("a full queue of one agent does not affect another", async () => {
  await busyAgent({ queued: 1 });
  expect((await beckon.invoke(await beckon.createAgent(), "Hello")).status).toBe(200);
});

test("a changed limit applies to runs that are queued already", async () => {
  const { agent } = await busyAgent({ queued: 1 });
  await beckon.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: { limits: { max_queued_runs: 2 } },
  });
  expect((await beckon.invoke(agent, "one more", async)).status).toBe(202);
  expect((await beckon.invoke(agent, "and one more", async)).status).toBe(429);
});
