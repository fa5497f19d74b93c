import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedProcess, seedWorkspace } from "../../../test/tenant.ts";
import { newId } from "../../base/ids.ts";
import { claimLimited, claimQueued } from "./claim-statement.ts";

const { database } = await testDatabase();
const owner = await seedProcess(database);

/** Inserts an agent with queued runs directly, because some tests need thousands of runs. */
async function insertQueued(workspaceId: string, runs: number): Promise<string> {
  const agentId = newId("agt");
  await database.engine.query(
    `with agent as (
      insert into agents (id, workspace_id, version, name, max_queued_runs)
      values ($1, $2, 1, 'Test', 100)
    ), queued as (
      insert into runs (id, workspace_id, agent_id, status, fence, last_seq)
      select $3 || lpad(n::text, 4, '0'), $2, $1, 'queued', 0, 1 from generate_series(1, $4) n
      returning id
    )
    insert into run_inputs
      (run_id, workspace_id, agent_version, source, payload, principal, engine_version)
    select id, $2, 1, 'invoke', 'hello', 'token:x', 1 from queued`,
    [agentId, workspaceId, newId("run").slice(0, -4), runs],
  );
  return agentId;
}

/**
 * Claims runs, counts the rows of `runs` and `run_inputs` that the claim reads, and undoes the
 * claim.
 */
async function claimAndUndo(limit: number, except: readonly string[] = []) {
  const client = await database.engine.connect();
  const readSoFar = async (table: string) => {
    const { rows } = await client.query<{ rows: number }>(
      `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
        from pg_stat_xact_user_tables where relname = $1`,
      [table],
    );
    return rows[0]?.rows ?? 0;
  };
  try {
    await client.query("begin");
    // The connection's counts can contain earlier statements.
    const before = { runs: await readSoFar("runs"), inputs: await readSoFar("run_inputs") };
    const { runs } = await claimQueued(
      { ...database, engine: client as never },
      { owner, except, eventIds: Array.from({ length: limit }, () => newId("evt")) },
    );
    return {
      runs,
      readRuns: (await readSoFar("runs")) - before.runs,
      readInputs: (await readSoFar("run_inputs")) - before.inputs,
    };
  } finally {
    await client.query("rollback");
    client.release();
  }
}

/** Removes the queued runs from the queue, and from its index, in which a claim would read them. */
async function emptyQueue(): Promise<void> {
  await database.engine.query(
    "update runs set status = 'cancelled', owner = null, finished_at = now()",
  );
  await database.engine.query("vacuum runs");
}

test("of many agents with a backlog, a claim reads hardly more than the oldest run of each", async () => {
  await emptyQueue();
  const agents = 200;
  const workspaces = await Promise.all([1, 2].map(() => seedWorkspace(database)));
  for (let index = 0; index < agents; index++) await insertQueued(workspaces[index % 2] ?? "", 60);
  const { runs, readInputs } = await claimAndUndo(50);
  expect(runs).toHaveLength(50);
  // Also counts the inputs of the claimed runs, which are returned.
  expect(readInputs).toBeLessThan(agents + 2 * 50);
});

test("a claim reads no runs of the agents of a workspace that it leaves out", async () => {
  await emptyQueue();
  const [full, other] = [await seedWorkspace(database), await seedWorkspace(database)];
  for (let index = 0; index < 200; index++) await insertQueued(full, 1);
  await insertQueued(other, 3);
  const { runs, readRuns } = await claimAndUndo(50, [full]);
  expect(runs.map(({ workspaceId }) => workspaceId)).toEqual([other, other, other]);
  expect(readRuns).toBeLessThan(50);
});

/** For each case, by workspace and agent, the number of queued runs. */
const backlogs = [
  [[60]],
  [[60], [1]],
  [[1, 1, 30], [2]],
  [[5, 5, 5, 5, 5], [9]],
  [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20], [20]],
  [[3, 0, 3], [0, 7], [1]],
  [
    [2, 2],
    [2, 2],
    [2, 2],
    [2, 2],
  ],
  Array.from({ length: 15 }, () => [4]),
].map((queued) => ({ queued }));

test.each(backlogs)(
  "workspaces and agents with $queued queued runs take turns",
  async ({ queued }) => {
    await emptyQueue();
    const limit = 12;
    const workspaces: { readonly queued: number; readonly agents: Map<string, number> }[] = [];
    for (const counts of queued) {
      const workspaceId = await seedWorkspace(database);
      const agents = new Map<string, number>();
      for (const count of counts) agents.set(await insertQueued(workspaceId, count), count);
      workspaces.push({ queued: counts.reduce((sum, count) => sum + count, 0), agents });
    }
    // Runs that have expired are left out, although they are the oldest ones.
    const expired = await insertQueued(await seedWorkspace(database), 20);
    await database.engine.query(
      "update runs set created_at = now() - interval '2 days' where agent_id = $1",
      [expired],
    );

    const { runs } = await claimAndUndo(limit);
    const total = workspaces.reduce((sum, workspace) => sum + workspace.queued, 0);
    expect(runs).toHaveLength(Math.min(limit, total));
    const claimedOf = (agentId: string) => runs.filter((run) => run.agentId === agentId);
    const taken = workspaces.map(({ queued, agents }) => {
      const ofAgents = [...agents].map(([agentId, count]) => ({
        queued: count,
        claimed: claimedOf(agentId).length,
      }));
      expectTurns(ofAgents);
      return { queued, claimed: ofAgents.reduce((sum, { claimed }) => sum + claimed, 0) };
    });
    expectTurns(taken);
    for (const agentId of workspaces.flatMap(({ agents }) => [...agents.keys()])) {
      const numbers = claimedOf(agentId).map(({ runId }) => Number(runId.slice(-4)));
      expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
    }
  },
);

test.each([
  ["without", null, claimQueued],
  ["with", 100, claimLimited],
] as const)(
  "of agents %s a concurrency limit, a claim takes no more than the share of their workspace",
  async (_what, max, claim) => {
    await emptyQueue();
    const [busy, full, idle] = [
      await seedWorkspace(database),
      await seedWorkspace(database),
      await seedWorkspace(database),
    ];
    for (const workspaceId of [busy, full, idle])
      for (const count of [1, 20]) await insertQueued(workspaceId, count);
    await database.engine.query("update agents set max_concurrent_runs = $1", [max]);
    const { runs } = await claim(database, {
      owner,
      eventIds: Array.from({ length: 30 }, () => newId("evt")),
      except: [full],
      maxOf: new Map([[busy, 4]]),
      maxOfOne: 10,
    });
    const claimedOf = (workspace: string) =>
      runs.filter(({ workspaceId }) => workspaceId === workspace).length;
    expect([busy, full, idle].map(claimedOf)).toEqual([4, 0, 10]);
  },
);

/** Expects that none gets two runs more than another that has further runs. */
function expectTurns(all: readonly { readonly queued: number; readonly claimed: number }[]): void {
  const most = Math.max(...all.map(({ claimed }) => claimed));
  for (const { queued, claimed } of all)
    expect(claimed).toBeGreaterThanOrEqual(Math.min(queued, most - 1));
}
