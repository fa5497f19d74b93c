import { expect, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { allSucceeded, statesOf } from "../../test/runs-of.ts";

/** Runs that this process executes at once, and runs that one agent can have in its queue. */
const capacity = 4;
const queued = 4;
const beckon = await startTestBeckon({ BECKON_MAX_RUNS: String(capacity) });
const async = { prefer: "respond-async" };

test("ten times the load gets answers of its own or 429, and everything else keeps working", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({
    model: held.model,
    limits: { max_queued_runs: queued },
  });
  const executing = Array.from({ length: capacity }, (_, index) =>
    beckon.invoke(agent, `executing ${index}`),
  );
  await held.reached(capacity);

  // No run can end now. So of the following requests, only as many are accepted as the queue holds.
  const answers = await Promise.all(
    Array.from({ length: 10 * (capacity + queued) }, (_, index) =>
      beckon.invoke(agent, `more ${index}`, async),
    ),
  );
  const accepted = answers.filter(({ status }) => status === 202);
  expect(accepted).toHaveLength(queued);
  for (const answer of answers.filter(({ status }) => status !== 202)) {
    expectError(answer, 429, "agent_busy");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }

  for (const path of ["/healthz", "/readyz"])
    expect((await beckon.call(`${beckon.url}${path}`)).status).toBe(200);
  const cancelled = accepted[0]?.body.run_id;
  expect((await beckon.call(`/runs/${cancelled}`)).body.data.status).toBe("queued");
  expect((await beckon.call(`/runs/${cancelled}/cancel`, { method: "POST" })).status).toBe(200);
  expect((await beckon.call(`/runs/${cancelled}`)).body.data.status).toBe("cancelled");
  expect((await beckon.call(`/agents/${agent.id}/runs`)).body.data).toHaveLength(capacity + queued);

  // All capacity is in use, but the trigger of another agent acknowledges what it receives.
  const other = await beckon.createAgent();
  const { url } = await beckon.createTrigger(other.id);
  for (let count = 0; count < 3; count++) {
    const fired = await beckon.call(url, { credential: null, body: "Hello" });
    expect([fired.status, fired.body.ok]).toEqual([200, true]);
  }

  held.release();
  for (const [index, answer] of (await Promise.all(executing)).entries())
    expect([answer.status, answer.body.output]).toEqual([200, `executing ${index}`]);
  await allSucceeded(beckon, other.id, 3);
  const ended = { succeeded: capacity + queued - 1, cancelled: 1 };
  await eventually("the end of all accepted runs", async () => {
    const states = await statesOf(beckon, agent.id);
    return (states.succeeded === ended.succeeded && states.cancelled === 1) || undefined;
  });
  expect(await statesOf(beckon, agent.id)).toEqual(ended);
  expect((await beckon.invoke(agent, "Hello again")).body.output).toBe("Hello again");
});
