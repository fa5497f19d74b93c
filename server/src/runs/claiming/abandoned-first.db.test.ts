import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { startHeldModel } from "../../../test/held-model.ts";
import { allSucceeded } from "../../../test/runs-of.ts";
import { seedAgent, seedProcess, startOne } from "../../../test/tenant.ts";
import { recordDeaths } from "../../processes/process-store.ts";

/** A server that executes no runs, so that runs stay queued. */
const beckon = await startTestBeckon({ BECKON_ROLE: "api" });
const { database } = beckon.db;

/** Starts a server with capacity for one run, and stops it at the end of the test. */
async function startServer() {
  const settings = { BECKON_ROLE: "all", BECKON_MAX_RUNS: "1", BECKON_DRAIN_SECONDS: "0" };
  const server = await beckon.another({ settings });
  onTestFinished(() => server.stop());
  return server;
}

/** Queues `count` runs of an agent. */
async function queueRuns(agent: { id: string; token: string }, count: number): Promise<void> {
  for (let index = 0; index < count; index++)
    await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
}

/** Creates `count` running runs of a new process. The caller declares the process dead later. */
async function startAtAnother(count: number) {
  const processId = await seedProcess(database);
  const agent = await seedAgent(database);
  for (let index = 0; index < count; index++) await startOne(database, agent, { owner: processId });
  return { processId, agentId: agent.agentId };
}

/**
 * Returns how many runs of `abandonedAgentId` were resumed, and how many runs of `agentId` were
 * started before the last of these was resumed.
 */
async function orderOf(agentId: string, abandonedAgentId: string) {
  const { rows } = await database.engine.query<{ resumed: number; startedBefore: number }>(
    `select count(*)::int as resumed, (
        select count(*)::int from runs r where r.agent_id = $1 and r.started_at < max(e.time)
      ) as "startedBefore"
      from events e join runs a on a.id = e.run_id
      where a.agent_id = $2 and e.type = 'run.resumed'`,
    [agentId, abandonedAgentId],
  );
  return rows[0];
}

test("a process that starts resumes abandoned runs before it claims queued runs", async () => {
  const agent = await beckon.createAgent();
  await queueRuns(agent, 20);
  const abandoned = await startAtAnother(3);
  await recordDeaths(database.engine, [abandoned.processId], "");
  await startServer();
  await allSucceeded(beckon, abandoned.agentId, 3);
  await allSucceeded(beckon, agent.id, 20);
  expect(await orderOf(agent.id, abandoned.agentId)).toEqual({ resumed: 3, startedBefore: 0 });
});

test("capacity that becomes free is used for abandoned runs before queued runs", async () => {
  const server = await startServer();
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  await queueRuns(agent, 20);
  await held.reached(1);
  const abandoned = await startAtAnother(3);
  await server.recordDeaths([abandoned.processId]);
  held.release();
  await allSucceeded(beckon, abandoned.agentId, 3);
  await allSucceeded(beckon, agent.id, 20);
  expect(await orderOf(agent.id, abandoned.agentId)).toEqual({ resumed: 3, startedBefore: 1 });
});

test("a failover that hangs does not stop the queue", async () => {
  const agent = await beckon.createAgent();
  const abandoned = await startAtAnother(1);
  await recordDeaths(database.engine, [abandoned.processId], "");
  const lock = await database.engine.connect();
  await lock.query("begin");
  await lock.query("select from processes where id = $1 for update", [abandoned.processId]);
  try {
    await startServer();
    await queueRuns(agent, 4);
    await allSucceeded(beckon, agent.id, 4);
    // The process has capacity for one run, so each run needs a claim. Only the first one waits.
    const { rows } = await database.engine.query<{ ms: number }>(
      `select extract(epoch from max(started_at) - min(started_at))::float * 1000 as ms from runs
        where agent_id = $1`,
      [agent.id],
    );
    expect(rows[0]?.ms).toBeLessThan(5_000);
  } finally {
    // Ends the transaction here and not in `onTestFinished`: an open transaction delays the events
    // that other tests wait for.
    lock.release(true);
  }
});
