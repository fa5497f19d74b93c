import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { median } from "../../test/busy-model.ts";
import { databaseAt } from "../../test/database-url.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { echo, says, startModelServer } from "../../test/model-server.ts";
import { openClient } from "../../test/open-client.ts";

/** One process answers callers, another executes: each run crosses over twice. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const worker = await beckon.another({ settings: { BECKON_ROLE: "worker" } });
afterAll(() => worker.stop());

type Agent = Awaited<ReturnType<typeof beckon.createAgent>>;

/** How long each of `count` invokes took, one after the other, in milliseconds. */
async function timesOf(agent: Agent, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    const { status, body } = await beckon.invoke(agent, `Hello ${index}`);
    times.push(performance.now() - began);
    expect([status, body.output]).toEqual([200, `Hello ${index}`]);
  }
  return times;
}

/** Who waits without being told looks every half second, a worker every second. */
const farBelowLooking = 170;

test("an invoke that another process executes is answered as soon as it is done", async ({
  annotate,
}) => {
  const agent = await beckon.createAgent();
  const times = await timesOf(agent, 20);
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  expect(median(times)).toBeLessThan(farBelowLooking);
});

test("so is one of many steps, whose journal grows while its reader reads", async ({
  annotate,
}) => {
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
  const { name } = await beckon.createProvider(models.url);
  const agent = await beckon.createAgent({ model: `${name}/scripted`, tools: [{ type: "clock" }] });
  const times = await timesOf(agent, 20);
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  expect(median(times)).toBeLessThan(500);
});

test("while no process hears another, invokes are answered all the same, only later", async ({
  annotate,
}) => {
  const agent = await beckon.createAgent();
  const admin = await openClient(databaseAt(inject("server").adminUrl, beckon.db.name));
  let deaf = true;
  const deafening = (async () => {
    while (deaf) {
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and (query = 'listen beckon' or query = 'select') and state = 'idle'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const times = await timesOf(agent, 3);
  deaf = false;
  await deafening;
  await admin.end();
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  // Who waits for one who looks has waited: nobody was told.
  expect(Math.max(...times)).toBeGreaterThan(farBelowLooking);
  expect(Math.max(...times)).toBeLessThan(5_000);
  // They hear each other again.
  await eventually(
    "an answer at once",
    async () => median(await timesOf(agent, 3)) < farBelowLooking || undefined,
  );
});

test("a run that another process executes stops promptly when it is cancelled here", async ({
  annotate,
}) => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const times: number[] = [];
  for (let index = 0; index < 5; index++) {
    const invoked = beckon.invoke(agent, "Hello");
    await held.reached(index + 1);
    const [run] = (await beckon.call(`/agents/${agent.id}/runs`)).body.data;
    const began = performance.now();
    await beckon.call(`/runs/${run.id}/cancel`, { method: "POST" });
    const { status, body } = await invoked;
    times.push(performance.now() - began);
    expect([status, body.code, body.run_id]).toEqual([500, "cancelled", run.id]);
  }
  await annotate(`median ${median(times).toFixed(1)} ms, most ${Math.max(...times).toFixed(1)} ms`);
  expect(median(times)).toBeLessThan(farBelowLooking);
});

test("a process that has just begun is heard of at once, not when leases are renewed", async () => {
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
  expect(median(times)).toBeLessThan(farBelowLooking);
});
