import { afterAll, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { median, startBusyModel } from "../../test/busy-model.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import {
  allSucceeded,
  eventTypesOf,
  maxStartedBefore,
  statesOf,
  watchRunning,
} from "../../test/runs-of.ts";

/** Two processes on one database that both execute runs. */
const beckon = await startTestBeckon({ BECKON_DRAIN_SECONDS: "0" });
const other = await beckon.another();
afterAll(() => other.stop());
/** A process with capacity for one run, on its own database. */
const narrow = await startTestBeckon({ BECKON_MAX_RUNS: "1" });

/** A process with capacity for two runs, on its own database. */
const pair = await startTestBeckon({ BECKON_MAX_RUNS: "2" });

/** Fires `count` runs, ten at a time, alternating between the processes. */
async function fire(
  token: string,
  count: number,
  urls: readonly string[] = [beckon.url, other.url],
): Promise<string[]> {
  const runIds: string[] = [];
  for (let sent = 0; sent < count; sent += 10) {
    const some = Array.from({ length: Math.min(10, count - sent) }, (_, index) =>
      beckon.call(`${urls[index % urls.length]}/api/public/triggers/${token}`, {
        credential: null,
        body: `run ${sent + index}`,
      }),
    );
    for (const { status, body } of await Promise.all(some)) {
      expect(status).toBe(200);
      runIds.push(body.run_id);
    }
  }
  return runIds;
}

test("a concurrency limit is used fully and never exceeded by two processes", async ({
  annotate,
}) => {
  const busy = await startBusyModel(beckon, 30);
  const agent = await beckon.createAgent({ model: busy.model, limits: { max_concurrent_runs: 5 } });
  const running = watchRunning(beckon, agent.id);
  const { token } = await beckon.createTrigger(agent.id);
  await fire(token, 200);
  await allSucceeded(beckon, agent.id, 200);
  expect(busy.maxConcurrent).toBe(5);
  expect(await running()).toBe(5);
  expect(new Set(busy.inputs).size).toBe(200);
  expect(busy.inputs.length).toBe(200);
  const idle = busy.idleTimes(5);
  await annotate(
    `idle capacity, ms: median ${median(idle).toFixed(1)}, max ${Math.max(...idle).toFixed(1)}`,
  );
  // Processes poll for queued runs only once a second. These times are shorter, so notifications
  // made the processes claim the runs. A busy machine can stop a process for longer.
  expect(median(idle)).toBeLessThan(300);
  expect(idle.filter((ms) => ms > 900).length).toBeLessThan(5);
});

test("a limit that is raised or lowered applies to the next claims", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const limitTo = (max: number | null) =>
    beckon.call(`/agents/${agent.id}`, {
      method: "PATCH",
      body: { limits: { max_concurrent_runs: max } },
    });
  const { token } = await beckon.createTrigger(agent.id);
  await fire(token, 12);
  await held.reached(1);
  await limitTo(4);
  await held.reached(4);
  expect((await statesOf(beckon, agent.id)).running).toBe(4);

  // The watch begins early, because its first sample must precede the release of the four runs.
  const running = watchRunning(beckon, agent.id);
  await limitTo(2);
  // Running runs continue. No other run starts until fewer runs than the new limit are running.
  expect((await statesOf(beckon, agent.id)).running).toBe(4);
  held.release();
  await allSucceeded(beckon, agent.id, 12);
  expect(await running()).toBe(4);
});

test("runs that wait for a limit are claimed once it is removed", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 1 } });
  const { token } = await beckon.createTrigger(agent.id);
  await fire(token, 5);
  await held.reached(1);
  await beckon.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: { limits: { max_concurrent_runs: null } },
  });
  await held.reached(5);
});

test("runs that were queued before the agent had a limit follow each other without a pause", async ({
  annotate,
}) => {
  const [busy, held] = [await startBusyModel(pair, 30), await startHeldModel(pair)];
  const agent = await pair.createAgent({ model: busy.model });
  const blocking = await pair.createAgent({ model: held.model });
  await fire((await pair.createTrigger(blocking.id)).token, 2, [pair.url]);
  await held.reached(2);
  await fire((await pair.createTrigger(agent.id)).token, 10, [pair.url]);
  await pair.call(`/agents/${agent.id}`, {
    method: "PATCH",
    body: { limits: { max_concurrent_runs: 1 } },
  });
  held.release();
  await allSucceeded(pair, agent.id, 10);
  expect(busy.maxConcurrent).toBe(1);
  const idle = busy.idleTimes(1);
  await annotate(`idle, ms: median ${median(idle).toFixed(1)}`);
  // Processes poll for queued runs only once a second.
  expect(median(idle)).toBeLessThan(600);
});

test("runs that are released or taken over count once, wherever they execute", async () => {
  const stopping = await beckon.another({ settings: { BECKON_MAX_RUNS: "2" } });
  const dying = await beckon.another({
    processId: "prc_dying",
    settings: { BECKON_MAX_RUNS: "2" },
  });
  onTestFinished(() => dying.stop());
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model, limits: { max_concurrent_runs: 4 } });
  const running = watchRunning(beckon, agent.id);
  const { token } = await beckon.createTrigger(agent.id);
  const runIds = await fire(token, 20, [stopping.url, dying.url]);
  await held.reached(4);

  await stopping.stop();
  await other.recordDeaths(["prc_dying"]);
  await eventually("four runs at other processes", async () => {
    const { rows } = await beckon.db.database.engine.query(
      `select from runs r join processes p on p.id = r.owner
        where r.agent_id = $1 and r.status = 'running' and p.died_at is null`,
      [agent.id],
    );
    return rows.length === 4 || undefined;
  });
  held.release();
  await allSucceeded(beckon, agent.id, 20);
  expect(await running()).toBe(4);
  for (const runId of runIds) {
    expect(
      (await eventTypesOf(beckon, runId)).filter((type) => type === "run.finished"),
    ).toHaveLength(1);
  }
});

test("a flood of a limited agent does not delay other agents, limited or not", async () => {
  const busy = await startBusyModel(narrow, 20);
  const flooded = await narrow.createAgent({
    model: busy.model,
    limits: { max_concurrent_runs: 50 },
  });
  const { token } = await narrow.createTrigger(flooded.id);
  await fire(token, 150, [narrow.url]);
  for (const limits of [{}, { max_concurrent_runs: 1 }]) {
    const agent = await narrow.createAgent({ limits });
    expect((await narrow.invoke(agent, "Hello")).status).toBe(200);
    expect(await maxStartedBefore(narrow, [agent.id], flooded.id)).toBeLessThan(20);
    expect((await statesOf(narrow, flooded.id)).queued).toBeGreaterThan(20);
  }
  await allSucceeded(narrow, flooded.id, 150);
});
