import { afterAll, expect, test } from "vitest";
import { builtInPricer } from "../../../test/built-in-pricer.ts";
import { testDatabase } from "../../../test/database.ts";
import {
  appendRow,
  type SeededAgent,
  seedAgent,
  seedProcess,
  seedWorkspace,
  startOne,
  startRow,
  succeeded,
} from "../../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../../test/write-runs.ts";
import { connect, type Database } from "../../base/database/index.ts";
import { engineVersion } from "../../base/engine-version.ts";
import { newId } from "../../base/ids.ts";
import { createLog } from "../../base/log.ts";
import { forgetDead, recordDeaths } from "../../processes/process-store.ts";
import { readOutcome } from "../journal/result-store.ts";
import type { CreatedRun } from "../starting/start-row.ts";
import {
  claimAbandoned,
  claimLastAttempts,
  countSuspects,
  findExhausted,
} from "./abandoned-statement.ts";
import { claimLimited, claimQueued, findClaimed } from "./claim-statement.ts";
import { endExhausted } from "./end-exhausted.ts";

const { database, url, role } = await testDatabase();
const other = connect({ url, poolSize: 8, role, log: createLog("silent") });
afterAll(() => other.close());

const request = (owner: string, limit: number) => ({
  owner,
  eventIds: Array.from({ length: limit }, () => newId("evt")),
});
const ids = (runs: readonly { readonly runId: string }[]) => runs.map((run) => run.runId);

/** Queues `count` runs of the agent and returns their ids, oldest first. */
async function queue(agent: SeededAgent, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => startRow(agent));
  await startRuns(database, rows);
  return rows.map((row) => row.runId).sort();
}

async function journalOf(runId: string) {
  const { rows } = await database.engine.query(
    "select seq, type, data from events where run_id = $1 order by seq",
    [runId],
  );
  return rows;
}

/** Ends all runs, so that the next test finds only its own. */
async function emptyQueue(): Promise<void> {
  await database.engine.query(
    "update runs set status = 'cancelled', finished_at = now() where finished_at is null",
  );
}

test.each([
  ["without", null, claimQueued],
  ["with", 1, claimLimited],
] as const)(
  "%s a concurrency limit, the time for which a released run was queued does not count as elapsed",
  async (_what, max, claim) => {
    await emptyQueue();
    const owner = await seedProcess(database);
    const agent = await seedAgent(database, { limits: { max_concurrent_runs: max } });
    const run = await startOne(database, agent);
    // One statement sets both times back, because now() differs between statements.
    const setBack = (times: { readonly started: number | null; readonly released: number }) =>
      database.engine.query(
        `update runs set started_at = now() - make_interval(secs => $2),
          released_at = now() - make_interval(secs => $3) where id = $1`,
        [run.runId, times.started, times.released],
      );
    const elapsedSeconds = async () => {
      const { runs } = await claim(database, request(owner, 1));
      return runs.map(({ runId, elapsedMs }) => [runId, Math.round(elapsedMs / 1_000)]);
    };
    // A run that was held has a release time, although it has not been started yet.
    await setBack({ started: null, released: 50 });
    expect(await elapsedSeconds()).toEqual([[run.runId, 0]]);

    const queued = {
      id: newId("evt"),
      type: "run.queued",
      data: "{}",
      artifact: undefined,
    } as const;
    const release = appendRow(run, owner, { lastSeq: 2, transition: "queued", entries: [queued] });
    expect(await appendToRuns(database, [release])).toMatchObject([{ kind: "written" }]);
    await setBack({ started: 1_000, released: 900 });
    expect(await elapsedSeconds()).toEqual([[run.runId, 100]]);
  },
);

test.each([
  ["without", null, claimQueued],
  ["with", 3, claimLimited],
] as const)(
  "%s a concurrency limit, runs that have been queued for 24 hours are not claimed",
  async (_what, max, claim) => {
    await emptyQueue();
    const owner = await seedProcess(database);
    const agent = await seedAgent(database, { limits: { max_concurrent_runs: max } });
    const [expired, released, ...others] = await queue(agent, 3);
    await database.engine.query(
      `update runs set created_at = now() - interval '24 hours',
        released_at = case when id = $2 then now() - interval '23 hours' end where id in ($1, $2)`,
      [expired, released],
    );
    const { runs } = await claim(database, request(owner, 10));
    expect(ids(runs).sort()).toEqual([released, ...others]);
  },
);

test.each([
  ["without", null, claimQueued],
  ["with", 3, claimLimited],
] as const)(
  "%s a concurrency limit, runs that need a newer engine version are not claimed",
  async (_what, max, claim) => {
    await emptyQueue();
    const owner = await seedProcess(database);
    const agent = await seedAgent(database, { limits: { max_concurrent_runs: max } });
    const [newer, ...others] = await queue(agent, 3);
    await database.engine.query("update run_inputs set engine_version = $2 where run_id = $1", [
      newer,
      engineVersion + 1,
    ]);
    const { runs } = await claim(database, request(owner, 10));
    expect(ids(runs).sort()).toEqual(others);
  },
);

test("a claim makes the process the run's owner and returns what execution needs", async () => {
  await emptyQueue();
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const [runId = ""] = await queue(agent, 1);
  const { runs } = await claimQueued(database, request(owner, 10));
  expect(runs).toMatchObject([
    {
      runId,
      workspaceId: agent.workspaceId,
      agentId: agent.agentId,
      agentVersion: 1,
      fence: 1,
      lastSeq: 2,
      resumed: false,
      input: "hello",
    },
  ]);
  expect(await journalOf(runId)).toEqual([
    { seq: 1, type: "run.queued", data: {} },
    { seq: 2, type: "run.started", data: {} },
  ]);
});

test("a process that was declared dead claims nothing", async () => {
  await emptyQueue();
  const dead = await seedProcess(database);
  await recordDeaths(database.engine, [dead], "prc_survivor");
  await queue(await seedAgent(database), 3);
  expect((await claimQueued(database, request(dead, 10))).runs).toEqual([]);
});

test("the runs of a claim without a reply are found until the process is declared dead", async () => {
  await emptyQueue();
  const [owner, heir] = [await seedProcess(database), await seedProcess(database)];
  const queued = await queue(await seedAgent(database), 2);
  const lost = request(owner, 5);
  await claimQueued(database, lost);
  const found = await findClaimed(database, [lost]);
  expect(ids(found.map(({ run }) => run)).sort()).toEqual(queued);
  await recordDeaths(database.engine, [owner], heir);
  expect(await findClaimed(database, [lost])).toEqual([]);
});

test("an agent's oldest runs come first, and a flood delays no others", async () => {
  await emptyQueue();
  const owner = await seedProcess(database);
  const workspaceId = await seedWorkspace(database);
  const flood = await seedAgent(database, { workspaceId });
  const neighbour = await seedAgent(database, { workspaceId });
  const elsewhere = await seedAgent(database);
  const flooded = await queue(flood, 60);
  await queue(neighbour, 3);
  await queue(elsewhere, 5);

  const { runs } = await claimQueued(database, request(owner, 12));
  const of = (agent: SeededAgent) =>
    ids(runs).filter((id) => runs.some((run) => run.runId === id && run.agentId === agent.agentId));
  // The workspaces take turns. One has only 5 runs, so the other one gets 7 of the 12. The two
  // agents of this other workspace take turns too: one has only 3 runs, so the other one gets 4.
  expect([of(elsewhere).length, of(neighbour).length, of(flood).length]).toEqual([5, 3, 4]);
  expect(of(flood).sort()).toEqual(flooded.slice(0, 4));
});

test("a process with capacity for one run also claims round robin", async () => {
  await emptyQueue();
  const owner = await seedProcess(database);
  const flood = await seedAgent(database);
  const small = await seedAgent(database);
  await queue(flood, 80);
  const [wanted = ""] = await queue(small, 1);
  // If runs were claimed in order of age, all 80 runs of `flood` would be claimed first. The
  // statement chooses one of the two agents at random each time, so the probability of that is
  // 2^-80.
  let tries = 0;
  for (let found = false; !found; tries++) {
    const { runs } = await claimQueued(database, request(owner, 1));
    expect(runs).toHaveLength(1);
    found = ids(runs).includes(wanted);
  }
  expect(tries).toBeLessThan(80);
});

test("concurrent claims never get the same run, and leave none", async () => {
  await emptyQueue();
  const agents = await Promise.all(Array.from({ length: 5 }, () => seedAgent(database)));
  const queued = (await Promise.all(agents.map((agent) => queue(agent, 40)))).flat();
  const claimAll = async (at: Database) => {
    const owner = await seedProcess(at);
    const got: string[] = [];
    for (;;) {
      const { runs, contended } = await claimQueued(at, request(owner, 7));
      got.push(...ids(runs));
      if (runs.length === 0 && !contended) return got;
    }
  };
  const got = await Promise.all([
    claimAll(database),
    claimAll(other),
    claimAll(database),
    claimAll(other),
  ]);
  expect(got.flat().sort()).toEqual(queued.sort());
  expect(got.filter((runs) => runs.length > 0).length).toBeGreaterThan(1);
  const { rows } = await database.engine.query(
    "select count(*)::int as runs from runs where id = any ($1) and status = 'running' and fence = 1 and last_seq = 2",
    [queued],
  );
  expect(rows).toEqual([{ runs: 200 }]);
});

test("concurrent claims do not exceed an agent's concurrency limit", async () => {
  await emptyQueue();
  const agent = await seedAgent(database, { limits: { max_concurrent_runs: 3 } });
  const queued = await queue(agent, 30);
  const owner = await seedProcess(database);
  const rush = async () => {
    const claims = Array.from({ length: 8 }, (_, index) =>
      claimLimited(index % 2 === 0 ? database : other, request(owner, 5)),
    );
    return (await Promise.all(claims)).flatMap(({ runs }) => runs);
  };
  const first = await rush();
  expect(ids(first).sort()).toEqual(queued.slice(0, 3));
  expect(await rush()).toEqual([]);
  expect((await claimQueued(database, request(owner, 10))).runs).toEqual([]);

  for (const run of first.slice(0, 2)) {
    await appendToRuns(database, [
      {
        ...appendRow({ ...run, runId: run.runId } as never, owner),
        fence: run.fence,
        lastSeq: run.lastSeq,
        transition: succeeded,
      },
    ]);
  }
  expect(ids(await rush()).sort()).toEqual(queued.slice(3, 5));
});

test("a claim that locks a limited agent does not block starts of its runs", async () => {
  await emptyQueue();
  const agent = await seedAgent(database, { limits: { max_concurrent_runs: 1 } });
  const client = await other.engine.connect();
  try {
    await client.query("begin");
    await client.query("select from agents where id = $1 for no key update", [agent.agentId]);
    expect((await startOne(database, agent)).status === "running").toBe(false);
  } finally {
    await client.query("rollback");
    client.release();
  }
});

/** Creates a run that `owner` executes at the given attempt. */
async function runAt(owner: string, attempt: number, maxAttempts = 3): Promise<CreatedRun> {
  const agent = await seedAgent(database, { limits: { max_attempts: maxAttempts } });
  const run = await startOne(database, agent, { owner });
  await database.engine.query("update runs set attempt = $2 where id = $1", [run.runId, attempt]);
  return run;
}

test("a dead process's runs are taken over with the next attempt and fence", async () => {
  await emptyQueue();
  const dead = await seedProcess(database);
  const alive = await seedProcess(database);
  const heir = await seedProcess(database);
  const run = await runAt(dead, 1);
  await runAt(alive, 1);
  expect((await claimAbandoned(database, request(heir, 10))).runs).toEqual([]);

  await recordDeaths(database.engine, [dead], heir);
  expect((await claimAbandoned(database, request(heir, 10))).runs).toMatchObject([
    { runId: run.runId, fence: 2, lastSeq: 2, resumed: true },
  ]);
  expect(await journalOf(run.runId)).toEqual([
    { seq: 1, type: "run.started", data: {} },
    { seq: 2, type: "run.resumed", data: { attempt: 2 } },
  ]);
  const { rows } = await database.engine.query(
    "select owner, fence, attempt from runs where id = $1",
    [run.runId],
  );
  expect(rows).toEqual([{ owner: heir, fence: 2, attempt: 2 }]);
  expect((await appendToRuns(database, [appendRow(run, dead)]))[0]?.kind).toBe("fenced");
  expect((await claimAbandoned(database, request(heir, 10))).runs).toEqual([]);
});

test("the row of a process that exited days ago is kept while a running run has this owner", async () => {
  await emptyQueue();
  const heir = await seedProcess(database);
  const dead = [await seedProcess(database), await seedProcess(database)] as const;
  const run = await runAt(dead[0], 1);
  await database.engine.query(
    "update processes set died_at = now() - interval '2 days' where id = any ($1)",
    [dead],
  );
  const remaining = async () => {
    await forgetDead(database.engine);
    const { rows } = await database.engine.query("select id from processes where id = any ($1)", [
      dead,
    ]);
    return rows.map(({ id }) => id);
  };
  expect(await remaining()).toEqual([dead[0]]);
  // Without the row, no process would take over the run.
  expect(ids((await claimAbandoned(database, request(heir, 10))).runs)).toEqual([run.runId]);
  expect(await remaining()).toEqual([]);
});

test("a dead process's runs that need a newer engine version are neither taken over nor ended", async () => {
  await emptyQueue();
  const dead = await seedProcess(database);
  const heir = await seedProcess(database);
  const runs = [await runAt(dead, 1), await runAt(dead, 2), await runAt(dead, 3)];
  await recordDeaths(database.engine, [dead], heir);
  await countSuspects(database);
  const needVersion = (version: number) =>
    database.engine.query("update run_inputs set engine_version = $2 where run_id = any ($1)", [
      ids(runs),
      version,
    ]);
  const found = async () => [
    ids((await claimAbandoned(database, request(heir, 10))).runs),
    ids((await claimLastAttempts(database, request(heir, 10), [])).runs),
    ids(await findExhausted(database, { after: "", limit: 10 })),
  ];
  await needVersion(engineVersion + 1);
  expect(await found()).toEqual([[], [], []]);
  await needVersion(engineVersion);
  expect(await found()).toEqual(ids(runs).map((id) => [id]));
});

test("an expired lease alone does not cause a failover", async () => {
  await emptyQueue();
  const late = await seedProcess(database);
  await runAt(late, 1);
  await database.engine.query(
    "update processes set lease_until = now() - interval '1 hour' where id = $1",
    [late],
  );
  expect((await claimAbandoned(database, request(await seedProcess(database), 10))).runs).toEqual(
    [],
  );
});

test("concurrent failovers take each run once", async () => {
  await emptyQueue();
  const dead = await seedProcess(database);
  const heir = await seedProcess(database);
  const runs = await Promise.all(Array.from({ length: 20 }, () => runAt(dead, 1)));
  await recordDeaths(database.engine, [dead], heir);
  const got = await Promise.all(
    [database, other, database, other].map((at) => claimAbandoned(at, request(heir, 20))),
  );
  const taken = got.flatMap((taking) => ids(taking.runs));
  expect(new Set(taken).size).toBe(taken.length);
  taken.push(...ids((await claimAbandoned(database, request(heir, 20))).runs));
  expect(taken.sort()).toEqual(ids(runs).sort());
});

test("a run without an attempt left ends interrupted and keeps its usage", async () => {
  await emptyQueue();
  const dead = await seedProcess(database);
  const heir = await seedProcess(database);
  const last = [await runAt(dead, 2), await runAt(dead, 2)];
  const single = await runAt(dead, 1, 1);
  const alone = await seedProcess(database);
  const spent = await runAt(alone, 3);
  await appendToRuns(database, [
    appendRow(spent, alone, {
      entries: [
        {
          id: newId("evt"),
          type: "run.step",
          data: '{"usage":{"input_tokens":7,"output_tokens":3,"cached_input_tokens":1}}',
          artifact: undefined,
        },
      ],
    }),
  ]);
  await recordDeaths(database.engine, [dead, alone], heir);
  await countSuspects(database);

  expect((await claimAbandoned(database, request(heir, 10))).runs).toEqual([]);
  expect(ids((await claimLastAttempts(database, request(heir, 10), [])).runs)).toEqual(
    ids(last).sort(),
  );
  expect((await claimLastAttempts(database, request(heir, 10), [])).runs).toEqual([]);

  await endExhausted({ database, pricer: builtInPricer }, 10);
  expect(await readOutcome(database, spent)).toEqual({
    status: "failed",
    error: { code: "interrupted", message: expect.stringMatching(/lost/) },
    usage: { input_tokens: 7, output_tokens: 3, cached_input_tokens: 1, estimated: true },
    cost_micros: null,
  });
  expect(await readOutcome(database, single)).toMatchObject({
    status: "failed",
    error: { code: "interrupted" },
  });
  expect((await journalOf(spent.runId)).map(({ seq, type }) => [seq, type])).toEqual([
    [1, "run.started"],
    [2, "run.step"],
    [3, "run.failed"],
  ]);
  for (const run of last) expect(await readOutcome(database, run)).toBeUndefined();
});
