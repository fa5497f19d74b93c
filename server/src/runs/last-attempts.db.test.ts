import fc from "fast-check";
import { afterAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { builtInPricer } from "../../test/built-in-pricer.ts";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import {
  type SeededAgent,
  seedAgent,
  seedProcess,
  startOne,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns } from "../../test/write-runs.ts";
import { connect, type Database } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { recordDeaths } from "../processes/process-store.ts";
import {
  claimAbandoned,
  claimCancelled,
  claimLastAttempts,
  countSuspects,
  maxTogether,
} from "./claiming/abandoned-statement.ts";
import { type ClaimedRun, claimQueued } from "./claiming/claim-statement.ts";
import { endExhausted } from "./claiming/end-exhausted.ts";

const { database, url, role } = await testDatabase();
const other = connect({ url, poolSize: 2, role, log: createLog("silent") });
afterAll(() => other.close());
// Ends all runs, so that each test finds only its own.
beforeEach(() =>
  database.engine.query(
    "update runs set status = 'cancelled', finished_at = now() where finished_at is null",
  ),
);

const beckon = await startTestBeckon({ BECKON_MAX_RUNS: "1" });

const request = (owner: string, limit = 100) => ({
  owner,
  eventIds: Array.from({ length: limit }, () => newId("evt")),
});

/**
 * Declares a process dead and counts its suspects: its runs on their last attempt, each of which
 * may have killed it.
 */
async function die(owner: string): Promise<void> {
  await recordDeaths(database.engine, [owner], "");
  await countSuspects(database);
}

/**
 * Creates `count` runs that `owner` executes at the given attempt.
 * @returns their ids, oldest first.
 */
async function runsAt(
  owner: string,
  agent: SeededAgent,
  count: number,
  attempt: number,
): Promise<string[]> {
  const runs = await Promise.all(
    Array.from({ length: count }, () => startOne(database, agent, { owner })),
  );
  const runIds = runs.map(({ runId }) => runId);
  await database.engine.query("update runs set attempt = $2 where id = any ($1)", [
    runIds,
    attempt,
  ]);
  return runIds.sort();
}

const finish = (owner: string, { runId, workspaceId, fence, lastSeq }: ClaimedRun) =>
  appendToRuns(database, [
    {
      runId,
      workspaceId,
      owner,
      fence,
      lastSeq,
      entries: [{ id: newId("evt"), type: "run.finished", data: "{}", artifact: undefined }],
      transition: succeeded,
    },
  ]);

async function rowsOf(runIds: readonly string[]) {
  const { rows } = await database.engine.query<{
    id: string;
    status: string;
    attempt: number;
    error: string | null;
  }>(
    `select r.id, r.status, r.attempt, e.error_code as error from runs r left join run_results e on e.run_id = r.id
      where r.id = any ($1) order by r.id`,
    [runIds],
  );
  return rows;
}

test("runs on their last attempt are executed together, up to a limit", async () => {
  const dead = await seedProcess(database);
  const heir = await seedProcess(database);
  await runsAt(dead, await seedAgent(database), maxTogether + 5, 2);
  await die(dead);
  const { runs } = await claimLastAttempts(database, request(heir), []);
  expect(runs.map(({ lastAttempt }) => lastAttempt)).toEqual(
    Array.from({ length: maxTogether }, () => "first"),
  );
  const executing = runs.slice(2).map(() => "first" as const);
  expect(
    (await claimLastAttempts(database, request(heir), [...executing, "first", "first"])).runs,
  ).toEqual([]);
  expect((await claimLastAttempts(database, request(heir), executing)).runs).toHaveLength(2);
  expect(
    (await claimLastAttempts(database, request(await seedProcess(database)), [])).runs,
  ).toHaveLength(3);
});

test("suspects are taken by halves, one half at each process", async () => {
  const agent = await seedAgent(database);
  const [dead, left, right, third] = await Promise.all(
    Array.from({ length: 4 }, () => seedProcess(database)),
  );
  const suspects = await runsAt(dead ?? "", agent, 5, 3);
  const alone = await runsAt(third ?? "", agent, 1, 3);
  await die(dead ?? "");
  await die(third ?? "");
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect(await rowsOf(alone)).toMatchObject([
    { status: "failed", attempt: 3, error: "interrupted" },
  ]);

  const first = await claimLastAttempts(database, request(left ?? ""), []);
  expect(first.runs.map(({ lastAttempt }) => lastAttempt)).toEqual([
    "repeated",
    "repeated",
    "repeated",
  ]);
  expect((await claimLastAttempts(database, request(left ?? ""), ["repeated"])).runs).toEqual([]);
  // A process that already executes runs on their last attempt takes over no suspects.
  expect((await claimLastAttempts(database, request(right ?? ""), ["first"])).runs).toEqual([]);
  const second = await claimLastAttempts(database, request(right ?? ""), []);
  expect([...first.runs, ...second.runs].map(({ runId }) => runId).sort()).toEqual(suspects.sort());
  expect((await rowsOf(suspects)).map(({ attempt }) => attempt)).toEqual([3, 3, 3, 3, 3]);
});

test("a run with one attempt is not taken over, also if its process executed others", async () => {
  const dead = await seedProcess(database);
  const single = await runsAt(
    dead,
    await seedAgent(database, { limits: { max_attempts: 1 } }),
    2,
    1,
  );
  const shared = await runsAt(dead, await seedAgent(database), 2, 3);
  await die(dead);
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect((await rowsOf(single)).map(({ error }) => error)).toEqual(["interrupted", "interrupted"]);
  expect((await rowsOf(shared)).map(({ status }) => status)).toEqual(["running", "running"]);
});

test("no run of a dead process is taken or ended before its suspects are counted", async () => {
  const dead = await seedProcess(database);
  const runIds = await runsAt(dead, await seedAgent(database), 2, 3);
  await recordDeaths(database.engine, [dead], "");
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect(
    (await claimLastAttempts(database, request(await seedProcess(database)), [])).runs,
  ).toEqual([]);
  await database.engine.query(
    "update runs set cancel_requested_at = clock_timestamp() where id = $1",
    [runIds[0]],
  );
  expect((await claimCancelled(database, request(await seedProcess(database)))).runs).toEqual([]);
  await countSuspects(database);
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect((await rowsOf(runIds)).map(({ status }) => status)).toEqual(["running", "running"]);
});

test("a claim in progress when its process is declared dead is counted", async () => {
  const dead = await seedProcess(database);
  const heir = await seedProcess(database);
  const runIds = await runsAt(dead, await seedAgent(database), 3, 2);
  await die(dead);
  const client = await other.engine.connect();
  onTestFinished(() => client.release());
  await client.query("begin");
  const { runs } = await claimLastAttempts(
    { ...database, engine: client } as unknown as Database,
    request(heir),
    [],
  );
  expect(runs.map(({ runId }) => runId)).toEqual(runIds);
  const recorded = die(heir);
  const { rows: holders } = await client.query<{ xid: string }>(
    "select pg_current_xact_id()::xid::text as xid",
  );
  await eventually("a statement that waits for the claim", async () => {
    const waiting = "select from pg_locks where not granted and transactionid::text = $1";
    return (await database.engine.query(waiting, [holders[0]?.xid])).rowCount || undefined;
  });
  await client.query("commit");
  await recorded;
  const { rows } = await database.engine.query("select suspects from processes where id = $1", [
    heir,
  ]);
  expect(rows).toEqual([{ suspects: 3 }]);
});

test("the time between a death and the next claim does not count as elapsed", async () => {
  const agent = await seedAgent(database, { limits: { max_attempts: 2 } });
  const processes = await Promise.all(Array.from({ length: 4 }, () => seedProcess(database)));
  const [first = "", second = "", third = "", fourth = ""] = processes;
  // Creates two runs, because a run that is the only suspect would be ended, not taken over.
  const [runId = ""] = await runsAt(first, agent, 2, 1);
  const ago = (seconds: number) => `now() - interval '${seconds} seconds'`;
  const diedAgo = async (owner: string, seconds: number) => {
    await die(owner);
    await database.engine.query(`update processes set died_at = ${ago(seconds)} where id = $1`, [
      owner,
    ]);
  };
  const elapsedSeconds = (runs: readonly ClaimedRun[]) =>
    Math.round((runs.find((run) => run.runId === runId)?.elapsedMs ?? 0) / 1_000);

  await database.engine.query(`update runs set started_at = ${ago(1_000)} where id = $1`, [runId]);
  await diedAgo(first, 900);
  expect(elapsedSeconds((await claimLastAttempts(database, request(second), [])).runs)).toBe(100);
  await diedAgo(second, 30);
  expect(elapsedSeconds((await claimLastAttempts(database, request(third), [])).runs)).toBe(70);
  await database.engine.query(
    "update runs set cancel_requested_at = clock_timestamp() where id = $1",
    [runId],
  );
  await diedAgo(third, 20);
  expect(elapsedSeconds((await claimCancelled(database, request(fourth))).runs)).toBe(50);
});

test("after a crash of the whole installation, the time until the next startup does not count as elapsed", async () => {
  const [crashed = "", next = ""] = await Promise.all([1, 2].map(() => seedProcess(database)));
  await runsAt(crashed, await seedAgent(database), 1, 1);
  // One statement sets both times back, because now() differs between statements.
  await database.engine.query(
    `with leases as (
      update processes set lease_until = now() - interval '900 seconds' where id = $1
    ) update runs set started_at = now() - interval '1000 seconds' where owner = $1`,
    [crashed],
  );
  // The startup records the exit, of which nothing is known but the end of the lease.
  await recordDeaths(database.engine, "all", next);
  const { runs } = await claimAbandoned(database, request(next));
  expect(runs.map(({ elapsedMs }) => Math.round(elapsedMs / 1_000))).toEqual([100]);
});

test("a run that was released on its last attempt is a suspect like others", async () => {
  const [first = "", second = "", third = ""] = await Promise.all(
    Array.from({ length: 3 }, () => seedProcess(database)),
  );
  const agent = await seedAgent(database);
  const runIds = await runsAt(first, agent, 2, 3);
  await database.engine.query("update runs set status = 'queued' where id = any ($1)", [runIds]);
  await die(first);
  expect((await claimQueued(database, request(second, 2))).runs).toHaveLength(2);
  await die(second);
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect(
    (await claimLastAttempts(database, request(third), [])).runs.map(({ runId }) => runId),
  ).toEqual(runIds.slice(0, 1));
});

test("a run on its last attempt is not taken again only to be cancelled", async () => {
  const [first = "", second = "", third = ""] = await Promise.all(
    Array.from({ length: 3 }, () => seedProcess(database)),
  );
  const [runId = ""] = await runsAt(first, await seedAgent(database), 2, 3);
  await die(first);
  await database.engine.query(
    "update runs set cancel_requested_at = clock_timestamp() where id = $1",
    [runId],
  );
  expect((await claimCancelled(database, request(second))).runs).toMatchObject([
    { runId, cancelRequested: true },
  ]);
  await die(second);
  expect((await claimCancelled(database, request(third))).runs).toEqual([]);
  await endExhausted({ database, pricer: builtInPricer }, 50);
  expect(await rowsOf([runId])).toMatchObject([
    { status: "failed", attempt: 3, error: "interrupted" },
  ]);
});

/** A simulated process, with the runs that it executes. */
interface Executor {
  id: string;
  runs: ClaimedRun[];
}

test("only runs that kill their process end interrupted, after bounded deaths", async () => {
  const agent = await seedAgent(database);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        runs: fc.integer({ min: 1, max: 90 }),
        killers: fc.array(fc.nat(), { maxLength: 3 }),
        processes: fc.integer({ min: 1, max: 3 }),
        lives: fc.infiniteStream(fc.nat(2)),
      }),
      async ({ runs: count, killers: at, processes, lives }) => {
        const dead = await seedProcess(database);
        const runIds = await runsAt(dead, agent, count, 1);
        const killers = new Set(at.map((index) => runIds[index % count] ?? ""));
        await die(dead);
        let deaths = 0;
        const executors: Executor[] = [];
        for (let index = 0; index < processes; index++)
          executors.push({ id: await seedProcess(database), runs: [] });
        const unfinished = async () =>
          (await rowsOf(runIds)).filter(({ status }) => status === "running").length;
        while ((await unfinished()) > 0) {
          for (const executor of executors) {
            const executing = executor.runs.flatMap(({ lastAttempt }) => lastAttempt ?? []);
            await countSuspects(database);
            await endExhausted({ database, pricer: builtInPricer }, 100);
            executor.runs.push(...(await claimAbandoned(database, request(executor.id))).runs);
            executor.runs.push(
              ...(await claimLastAttempts(database, request(executor.id), executing)).runs,
            );
            expect(
              executor.runs.filter(({ lastAttempt }) => lastAttempt !== undefined).length,
            ).toBeLessThanOrEqual(maxTogether);
            // Some runs end. Then the process exits if it executes a killer: a run that kills every
            // process that executes it.
            const ending = executor.runs.filter(
              ({ runId }) => !killers.has(runId) && lives.next().value === 0,
            );
            for (const run of ending) await finish(executor.id, run);
            executor.runs = executor.runs.filter((run) => !ending.includes(run));
            if (!executor.runs.some(({ runId }) => killers.has(runId))) continue;
            deaths++;
            await recordDeaths(database.engine, [executor.id], "");
            Object.assign(executor, { id: await seedProcess(database), runs: [] });
          }
        }
        for (const { id, status, error, attempt } of await rowsOf(runIds)) {
          if (killers.has(id))
            expect([status, error, attempt]).toEqual(["failed", "interrupted", 3]);
          else expect([id, status]).toEqual([id, "succeeded"]);
        }
        // `each` is the maximum number of processes that one killer kills: two on the attempts
        // before the last one, one on the last attempt, and one each time that the remaining
        // suspects are halved to find the killer. The first of these processes is `dead`, which
        // `deaths` does not count.
        const each = 3 - 1 + Math.ceil(Math.log2(Math.min(count, maxTogether))) + 1;
        expect(deaths).toBeLessThanOrEqual(killers.size * (each - 1));
      },
    ),
    { numRuns: 15 },
  );
});

test("a suspect that waits is cancelled at once, even if the process has no capacity", async () => {
  const held = await startHeldModel(beckon);
  const agent = await beckon.createAgent({ model: held.model });
  const runs: string[] = [];
  for (const input of ["first", "second"])
    runs.push((await beckon.invoke(agent, input, { prefer: "respond-async" })).body.run_id);
  await held.reached(1);
  const { engine } = beckon.db.database;
  await engine.query(
    "insert into processes (id, engine_version, lease_until, died_at) values ('prc_dead', 1, now(), now())",
  );
  // Makes the queued run a suspect: it is on its last attempt, and its dead process executed two
  // runs on their last attempt, so that each of them may have killed the process.
  await engine.query(
    "update runs set status = 'running', owner = 'prc_dead', fence = 3, attempt = 3, started_at = now() where agent_id = $1 and status = 'queued'",
    [agent.id],
  );
  await engine.query("update processes set suspects = 2 where id = 'prc_dead'");

  expect((await beckon.call(`/runs/${runs[1]}/cancel`, { method: "POST" })).status).toBe(200);
  const ended = await eventually("the end of the run", async () => {
    const { data } = (await beckon.call(`/runs/${runs[1]}`)).body;
    return data.finished_at === null ? undefined : data;
  });
  expect(ended).toMatchObject({ status: "cancelled", attempt: 3, error: { code: "cancelled" } });
  expect(held.requests).toHaveLength(1);
});
