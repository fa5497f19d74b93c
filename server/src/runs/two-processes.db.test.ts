import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { median } from "../../test/busy-model.ts";
import { databaseAt } from "../../test/database-url.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, says, startModelServer } from "../../test/model-server.ts";
import { openClient } from "../../test/open-client.ts";

/**
 * One process serves callers and another executes, so each run needs two notifications: one that it
 * is queued, and one that its journal has new entries.
 */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const worker = await beckon.another({ settings: { BECKON_ROLE: "worker" } });
afterAll(() => worker.stop());

/**
 * A server that executes its runs in its own process, without notifications. Durations on the two
 * other processes are compared with durations on this one, because on a busy machine everything
 * takes longer.
 */
const alone = await startTestBeckon();

type Agent = Awaited<ReturnType<typeof beckon.createAgent>>;

/**
 * Invokes the agent `count` times, one after the other, and returns the durations in milliseconds.
 */
async function timesOf(agent: Agent, count: number, server = beckon): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    const { status, body } = await server.invoke(agent, `Hello ${index}`);
    times.push(performance.now() - began);
    expect([status, body.output]).toEqual([200, `Hello ${index}`]);
  }
  return times;
}

/**
 * Maximum duration of a notification. It is far below the poll intervals, which are 500 ms for
 * subscribers and 1 s for workers.
 */
const maxNotifiedMs = 170;

test("an invoke executed by another process does not wait for a poll", async ({ annotate }) => {
  const agent = await beckon.createAgent();
  const times = await timesOf(agent, 20);
  await annotate(`median ${median(times).toFixed(1)} ms, max ${Math.max(...times).toFixed(1)} ms`);
  const reference = median(await timesOf(await alone.createAgent(), 20, alone));
  expect(median(times) - reference).toBeLessThan(maxNotifiedMs);
});

test("so does a run of many steps, whose journal grows while it is read", async ({ annotate }) => {
  const models = await startModelServer();
  onTestFinished(() => models.close());
  models.script((request, index) => {
    const answered = request.body.messages.filter(({ role }) => role === "tool").length;
    if (answered === 10) return echo()(request, index);
    return says({ calls: [{ id: `call_${answered}`, name: "clock", arguments: "{}" }] })(
      request,
      index,
    );
  });
  const timesAt = async (server: typeof beckon) => {
    const { name } = await server.createProvider(models.url);
    const model = `${name}/scripted`;
    return timesOf(await server.createAgent({ model, tools: [{ type: "clock" }] }), 10, server);
  };
  const times = await timesAt(beckon);
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  expect(median(times) - median(await timesAt(alone))).toBeLessThan(500);
});

test("without notifications invokes succeed too, after a poll", async ({ annotate }) => {
  const agent = await beckon.createAgent();
  const admin = await openClient(databaseAt(inject("server").adminUrl, beckon.db.name));
  let isDisconnected = true;
  const disconnecting = (async () => {
    while (isDisconnected) {
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and (query = 'listen beckon' or query = 'select') and state = 'idle'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const times = await timesOf(agent, 3);
  isDisconnected = false;
  await disconnecting;
  await admin.end();
  await annotate(`median ${median(times).toFixed(1)} ms, max ${Math.max(...times).toFixed(1)} ms`);
  // Proves that there were no notifications.
  expect(Math.max(...times)).toBeGreaterThan(maxNotifiedMs);
  expect(Math.max(...times)).toBeLessThan(5_000);
  await eventually(
    "notifications again",
    async () => median(await timesOf(agent, 3)) < maxNotifiedMs || undefined,
  );
});

test("a run that another process executes stops promptly when this process cancels it", async ({
  annotate,
}) => {
  const timesAt = async (server: typeof beckon) => {
    const held = await startHeldModel(server);
    const agent = await server.createAgent({ model: held.model });
    const times: number[] = [];
    for (let index = 0; index < 5; index++) {
      const invoked = server.invoke(agent, "Hello");
      await held.reached(index + 1);
      const [run] = (await server.call(`/agents/${agent.id}/runs`)).body.data;
      const began = performance.now();
      await server.call(`/runs/${run.id}/cancel`, { method: "POST" });
      const { status, body } = await invoked;
      times.push(performance.now() - began);
      expect([status, body.code, body.run_id]).toEqual([500, "cancelled", run.id]);
    }
    return times;
  };
  const times = await timesAt(beckon);
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  expect(median(times) - median(await timesAt(alone))).toBeLessThan(maxNotifiedMs);
});

test("a process that has just started is notified before the next lease renewal", async () => {
  const first = await startTestBeckon({ BECKON_ROLE: "api" });
  const agent = await first.createAgent();
  const second = await first.another({ settings: { BECKON_ROLE: "worker" } });
  onTestFinished(() => second.stop());
  const timeOfOne = async () => {
    const began = performance.now();
    expect((await first.invoke(agent, "Hello")).status).toBe(200);
    return performance.now() - began;
  };
  await timeOfOne();
  const times = [await timeOfOne(), await timeOfOne(), await timeOfOne()];
  const reference = median(await timesOf(await alone.createAgent(), 3, alone));
  expect(median(times) - reference).toBeLessThan(maxNotifiedMs);
});
