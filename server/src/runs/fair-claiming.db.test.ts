import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon, type TestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { maxStartedBefore, statesOf } from "../../test/runs-of.ts";
import { insertStranger } from "../../test/workspace-key.ts";

/**
 * A server with capacity for one run. With more capacity, runs of the other agents could start soon
 * even if many runs of one agent were claimed first.
 */
const beckon = await startTestBeckon({ BECKON_MAX_RUNS: "1", BECKON_DRAIN_SECONDS: "0" });

/**
 * Maximum number of runs of a flood that start before a run of another agent. It is a small part of
 * the runs that are queued. No time is measured, because a busy machine executes runs slowly.
 */
const maxRunsBefore = 100;

/** Fires `count` runs of a new agent over 50 connections. */
async function flood(
  at: TestBeckon,
  count: number,
): Promise<{ agentId: string; sent: Promise<void> }> {
  const agent = await at.createAgent();
  const { url } = await at.createTrigger(agent.id);
  let left = count;
  const send = async () => {
    while (left-- > 0)
      expect((await at.call(url, { credential: null, body: "flood" })).status).toBe(200);
  };
  return { agentId: agent.id, sent: Promise.all(Array.from({ length: 50 }, send)).then(() => {}) };
}

async function delayOf(agent: { id: string; token: string }): Promise<number> {
  const began = performance.now();
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
  return performance.now() - began;
}

test("runs of other agents and workspaces do not wait for the runs of a flood of 5,000 fires", async ({
  annotate,
}) => {
  const neighbour = await beckon.createAgent();
  const { body } = await beckon.call("/agents", {
    credential: await insertStranger(beckon),
    body: { name: "Far", model: "demo/echo" },
  });
  const stranger = body.data;
  const { agentId, sent } = await flood(beckon, 5_000);
  const queued = async (min: number) =>
    eventually(
      `${min} queued runs`,
      async () => ((await statesOf(beckon, agentId)).queued ?? 0) >= min || undefined,
    );

  const delays: number[] = [];
  await queued(500);
  for (let round = 0; round < 5; round++)
    delays.push(await delayOf(neighbour), await delayOf(stranger));
  await sent;
  await queued(1_000);
  for (let round = 0; round < 10; round++)
    delays.push(...(await Promise.all([delayOf(neighbour), delayOf(stranger)])));
  await queued(500);
  // So that the next tests need not wait for them.
  await beckon.db.database.engine.query(
    `update runs set status = 'cancelled', owner = null, finished_at = now()
      where agent_id = $1 and status = 'queued'`,
    [agentId],
  );

  await annotate(`delays, ms: ${delays.map((delay) => delay.toFixed(0)).join(" ")}`);
  const before = await maxStartedBefore(beckon, [neighbour.id, stranger.id], agentId);
  expect(before).toBeLessThan(maxRunsBefore);
});

test("runs of one agent start oldest first", async () => {
  const agent = await beckon.createAgent();
  const { url } = await beckon.createTrigger(agent.id);
  for (let index = 0; index < 10; index++)
    await beckon.call(url, { credential: null, body: `${index}` });
  await eventually(
    "the end of all",
    async () => (await statesOf(beckon, agent.id)).succeeded === 10 || undefined,
  );
  const { rows } = await beckon.db.database.engine.query<{ payload: string }>(
    `select i.payload from runs r join run_inputs i on i.run_id = r.id
      where r.agent_id = $1 order by r.started_at`,
    [agent.id],
  );
  expect(rows.map(({ payload }) => payload).join("")).toBe("0123456789");
});

test("two processes share a queue, and neither is idle while runs are queued", async ({
  annotate,
}) => {
  const accepting = await startTestBeckon({ BECKON_ROLE: "api" });
  const settings = { BECKON_ROLE: "worker", BECKON_MAX_RUNS: "10" };
  // Both have started before the first run, or the first to start could finish all of them.
  const workers = await Promise.all([
    accepting.another({ settings }),
    accepting.another({ settings }),
  ]);
  onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.stop()))));
  const { agentId, sent } = await flood(accepting, 400);
  await sent;
  await eventually(
    "the end of all",
    async () => (await statesOf(accepting, agentId)).succeeded === 400 || undefined,
  );
  const { rows } = await accepting.db.database.engine.query<{
    runs: number;
    long_pauses: number;
  }>(
    `select count(*)::int as runs, (count(*) filter (where pause > 900))::int as long_pauses from (
        select owner, extract(epoch from started_at - lag(started_at) over (partition by owner order by started_at)) * 1000 as pause
        from runs where agent_id = $1) as starts group by owner`,
    [agentId],
  );
  await annotate(
    `runs and pauses above 900 ms, by process: ${rows.map((row) => `${row.runs}, ${row.long_pauses}`).join("; ")}`,
  );
  expect(rows.length).toBe(2);
  expect(Math.min(...rows.map(({ runs }) => runs))).toBeGreaterThan(80);
  // Processes poll for queued runs only once a second. Nearly all pauses are shorter, so
  // notifications made the processes claim the runs. A busy machine can stop a process for longer.
  expect(Math.max(...rows.map((row) => row.long_pauses))).toBeLessThan(5);
});
