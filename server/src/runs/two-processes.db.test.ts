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

/** Invokes the agent and returns the duration in milliseconds. */
async function timeOf(agent: Agent, server = beckon): Promise<number> {
  const began = performance.now();
  const { status, body } = await server.invoke(agent, "Hello");
  const time = performance.now() - began;
  expect([status, body.output]).toEqual([200, "Hello"]);
  return time;
}

/**
 * Calls `measure` and `reference` `count` times each, in turns, so that a change of the machine's
 * load affects both.
 * @returns the medians of both, and the maximum of `measure`.
 */
async function inTurns(
  count: number,
  measure: () => Promise<number>,
  reference: () => Promise<number>,
): Promise<{ readonly time: number; readonly max: number; readonly reference: number }> {
  const times: number[] = [];
  const references: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    times.push(await measure());
    references.push(await reference());
  }
  return { time: median(times), max: Math.max(...times), reference: median(references) };
}

const shown = ({ time, max, reference }: Awaited<ReturnType<typeof inTurns>>) =>
  `median ${time.toFixed(1)} ms, max ${max.toFixed(1)} ms, reference ${reference.toFixed(1)} ms`;

/**
 * Maximum time that notifications add to an invoke on an idle machine, in milliseconds. It is far
 * below the poll intervals, which are 500 ms for subscribers and 1 s for workers.
 */
const maxNotifiedMs = 170;

/**
 * Returns the maximum duration of an invoke with notifications, in milliseconds. On a busy machine
 * notifications take longer too, so it grows with the duration of the `reference`, but never up to
 * a poll interval.
 */
const maxMs = (reference: number) =>
  reference + Math.min(Math.max(maxNotifiedMs, 2 * reference), 400);

test("an invoke executed by another process does not wait for a poll", async ({ annotate }) => {
  const [agent, agentAlone] = [await beckon.createAgent(), await alone.createAgent()];
  const times = await inTurns(
    20,
    () => timeOf(agent),
    () => timeOf(agentAlone, alone),
  );
  await annotate(shown(times));
  expect(times.time).toBeLessThan(maxMs(times.reference));
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
  const agentAt = async (server: typeof beckon) => {
    const { name } = await server.createProvider(models.url);
    return server.createAgent({ model: `${name}/scripted`, tools: [{ type: "clock" }] });
  };
  const [agent, agentAlone] = [await agentAt(beckon), await agentAt(alone)];
  const times = await inTurns(
    10,
    () => timeOf(agent),
    () => timeOf(agentAlone, alone),
  );
  await annotate(shown(times));
  expect(times.time).toBeLessThan(maxMs(times.reference));
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
  const times = [await timeOf(agent), await timeOf(agent), await timeOf(agent)];
  isDisconnected = false;
  await disconnecting;
  await admin.end();
  await annotate(`median ${median(times).toFixed(1)} ms, max ${Math.max(...times).toFixed(1)} ms`);
  // At least one invoke got no notification: with notifications none takes this long.
  expect(Math.max(...times)).toBeGreaterThan(maxNotifiedMs);
  expect(Math.max(...times)).toBeLessThan(5_000);
  // Compared with a process alone, which a busy machine slows down as well.
  const agentAlone = await alone.createAgent();
  await eventually("notifications again", async () => {
    const reference = await timeOf(agentAlone, alone);
    return (await timeOf(agent)) < maxMs(reference) || undefined;
  });
});

test("a run that another process executes stops promptly when this process cancels it", async ({
  annotate,
}) => {
  const cancelAt = async (server: typeof beckon) => {
    const held = await startHeldModel(server);
    const agent = await server.createAgent({ model: held.model });
    return async () => {
      const before = held.requests.length;
      const invoked = server.invoke(agent, "Hello");
      await held.reached(before + 1);
      const [run] = (await server.call(`/agents/${agent.id}/runs`)).body.data;
      const began = performance.now();
      await server.call(`/runs/${run.id}/cancel`, { method: "POST" });
      const { status, body } = await invoked;
      const time = performance.now() - began;
      expect([status, body.code, body.run_id]).toEqual([500, "cancelled", run.id]);
      return time;
    };
  };
  const times = await inTurns(5, await cancelAt(beckon), await cancelAt(alone));
  await annotate(shown(times));
  expect(times.time).toBeLessThan(maxMs(times.reference));
});

test("a process that has just started is notified before the next lease renewal", async () => {
  const first = await startTestBeckon({ BECKON_ROLE: "api" });
  const agent = await first.createAgent();
  const second = await first.another({ settings: { BECKON_ROLE: "worker" } });
  onTestFinished(() => second.stop());
  await timeOf(agent, first);
  const agentAlone = await alone.createAgent();
  const { time, reference } = await inTurns(
    3,
    () => timeOf(agent, first),
    () => timeOf(agentAlone, alone),
  );
  expect(time).toBeLessThan(maxMs(reference));
});
