import { randomUUID } from "node:crypto";
import { Client, Pool } from "pg";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { databaseAt } from "../../../test/database-url.ts";
import { eventually } from "../../../test/eventually.ts";
import { startProxy, statement } from "../../../test/proxy.ts";
import {
  appendRow,
  seedAgent,
  seedProcess,
  startedOf,
  startOne,
  startRow,
} from "../../../test/tenant.ts";
import { appendToRuns, startRuns } from "../../../test/write-runs.ts";
import type { AppendResult, AppendRow } from "../../runs/journal/append-row.ts";
import type { StartResult, StartRow } from "../../runs/starting/start-row.ts";
import { createLog } from "../log.ts";
import { createBatcher } from "./batcher.ts";
import { connect, type Database } from "./connect.ts";

const { database, name, url, role } = await testDatabase();
const agent = await seedAgent(database);
const process = await seedProcess(database);

const proxy = await startProxy(url);
const far = connect({ url: proxy.urlFor(url), poolSize: 4, role, log: createLog("silent") });
afterAll(async () => {
  await far.close();
  await proxy.close();
});

const limits = { bytes: () => 1, maxRows: 200, maxBytes: 1_000_000 };
const createStartBatcher = (at: Database, order = (row: StartRow) => `${row.agentId} ${row.key}`) =>
  createBatcher<StartRow, StartResult>({ write: (rows) => startRuns(at, rows), order, ...limits });
const createAppendBatcher = (at: Database) =>
  createBatcher<AppendRow, AppendResult>({
    write: (rows) => appendToRuns(at, rows),
    order: (row) => row.runId,
    ...limits,
  });

async function count(
  table: "runs" | "run_inputs" | "events" | "run_results",
  runIds: readonly string[],
): Promise<number> {
  const key = table === "runs" ? "id" : "run_id";
  const { rows } = await database.engine.query<{ count: string }>(
    `select count(*) from ${table} where ${key} = any ($1)`,
    [runIds],
  );
  return Number(rows[0]?.count);
}

const hash = Buffer.alloc(32, 1);

test("with one rejected, one duplicate and one malformed row of 100, every caller gets its own result", async () => {
  const earlier = await startOne(database, agent, { key: "used before", bodyHash: hash });
  const rows = Array.from({ length: 100 }, (_, index) =>
    startRow(agent, { payload: `payload ${index}`, key: `key ${index}`, bodyHash: hash }),
  );
  rows[7] = startRow(agent, { payload: "PostgreSQL takes no \0 in a text" });
  rows[23] = startRow(agent, { caller: { kind: "credential", hash: Buffer.alloc(32, 9) } });
  rows[50] = startRow(agent, { key: "used before", bodyHash: hash });
  const starts = createStartBatcher(database);
  const results = await Promise.allSettled(rows.map((row) => starts.submit(row)));

  for (const [index, result] of results.entries()) {
    const row = rows[index];
    if (index === 7)
      expect(result).toMatchObject({ status: "rejected", reason: { code: "22021" } });
    else if (index === 23)
      expect(result).toEqual({ status: "fulfilled", value: { kind: "unauthorized" } });
    else if (index === 50)
      expect(result).toMatchObject({
        status: "fulfilled",
        value: { kind: "replay", runId: earlier.runId },
      });
    else
      expect(result).toMatchObject({
        status: "fulfilled",
        value: { kind: "started", run: { runId: row?.runId } },
      });
  }
  const runIds = rows.map((row) => row.runId);
  for (const table of ["runs", "run_inputs", "events"] as const)
    expect(await count(table, runIds)).toBe(97);
});

test("one malformed entry among appends does not affect the others", async () => {
  const runs = await Promise.all(
    Array.from({ length: 20 }, () => startOne(database, agent, { owner: process })),
  );
  const appends = createAppendBatcher(database);
  const results = await Promise.allSettled(
    runs.map((run, index) => {
      const row = appendRow(run, process);
      return appends.submit(
        index === 3
          ? {
              ...row,
              entries: row.entries.map((entry) => ({ ...entry, data: '{"text":"\\u0000"}' })),
            }
          : row,
      );
    }),
  );
  expect(results.map(({ status }) => status)).toEqual(
    runs.map((_, index) => (index === 3 ? "rejected" : "fulfilled")),
  );
  expect(
    await count(
      "events",
      runs.map((run) => run.runId),
    ),
  ).toBe(20 + 19);
});

test.each([
  ["nothing of it has arrived", "nothing"],
  ["some bytes of it have arrived", 40],
] as const)(
  "a start whose response was lost is retried without a duplicate, when %s",
  async (_, pass) => {
    const rows = Array.from({ length: 5 }, (_, index) =>
      startRow(agent, { key: index < 2 ? randomUUID() : null, bodyHash: hash, owner: process }),
    );
    const cut = proxy.cutNext({ request: statement("start"), pass });
    const starts = createStartBatcher(far);
    const results = await Promise.all(rows.map((row) => starts.submit(row)));
    await cut;
    expect(results.map((result) => startedOf(result).runId)).toEqual(rows.map((row) => row.runId));
    expect(results.every((result) => startedOf(result).status === "running")).toBe(true);
    const runIds = rows.map((row) => row.runId);
    for (const table of ["runs", "run_inputs", "events"] as const)
      expect(await count(table, runIds)).toBe(5);
  },
);

test.each([
  ["nothing of it has arrived", "nothing"],
  ["some bytes of it have arrived", 40],
] as const)("a lost reply is sent again without a double: appends, when %s", async (_, pass) => {
  const runs = await Promise.all(
    Array.from({ length: 5 }, () => startOne(database, agent, { owner: process })),
  );
  const cut = proxy.cutNext({ request: statement("append"), pass });
  const appends = createAppendBatcher(far);
  const answers = await Promise.all(runs.map((run) => appends.submit(appendRow(run, process))));
  await cut;
  expect(answers.map(({ kind }) => kind)).toEqual(runs.map(() => "written"));
  expect(
    await count(
      "events",
      runs.map((run) => run.runId),
    ),
  ).toBe(10);
});

/**
 * Executes `lock` in a transaction that stays open until `release`. Statements that need the same
 * lock take their snapshot and then wait. `waiting` resolves when `count` statements wait.
 */
async function holdUp(
  lock: string,
  values: unknown[],
): Promise<{ release: () => Promise<unknown>; waiting: (count: number) => Promise<void> }> {
  const holder = new Client(database.settings);
  // In the Vitest project `external`, connections log in as a superuser and switch to the role
  // `beckon_server`. That role cannot see in `pg_stat_activity` what a superuser's connections wait
  // for. So the observer connects with `adminUrl`, and stays a superuser.
  const observer = new Client({ connectionString: databaseAt(inject("server").adminUrl, name) });
  await Promise.all([holder.connect(), observer.connect()]);
  onTestFinished(async () => {
    await Promise.all([holder.end(), observer.end()]);
  });
  await holder.query("begin");
  await holder.query(lock, values);
  return {
    release: () => holder.query("rollback"),
    waiting: async (count) => {
      await eventually(`${count} statements that wait`, async () => {
        const { rows } = await observer.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows.length >= count || undefined;
      });
    },
  };
}

test.each([
  ["without a key", null],
  ["with a key", "some key"],
])(
  "a start that is sent again while the first send is still under way is not written twice: %s",
  async (_, key) => {
    const row = startRow(agent, { key, bodyHash: hash, owner: process });
    // The insert of the run's first event waits for this uncommitted row, which has the same
    // primary key (run_id, seq).
    const held = await holdUp(
      "insert into events (run_id, seq, workspace_id, id, type, version, data) values ($1, 1, $2, 'evt_held', 'run.started', 1, '{}')",
      [row.runId, agent.workspaceId],
    );
    const result = createStartBatcher(far).submit(row);
    await held.waiting(1);
    proxy.drop({ hard: true });
    await held.waiting(2);
    await held.release();
    expect(startedOf(await result)).toMatchObject({ runId: row.runId, status: "running" });
    for (const table of ["runs", "run_inputs", "events"] as const)
      expect(await count(table, [row.runId])).toBe(1);
  },
);

test("an append that is retried while the first attempt is running is written once", async () => {
  const run = await startOne(database, agent, { owner: process });
  // An open transaction inserts an event with the primary key (run_id, seq) that the append's event
  // has. So the append updates the run's row and then waits at the insert of its event.
  const held = await holdUp(
    "insert into events (run_id, seq, workspace_id, id, type, version, data) values ($1, 2, $2, 'evt_held', 'run.step', 1, '{}')",
    [run.runId, run.workspaceId],
  );
  const result = createAppendBatcher(far).submit(appendRow(run, process));
  await held.waiting(1);
  proxy.drop({ hard: true });
  await held.waiting(2);
  await held.release();
  expect((await result).kind).toBe("written");
  expect(await count("events", [run.runId])).toBe(2);
});

test("two processes with the same keys in opposite orders do not deadlock", async () => {
  let deadlocks = 0;
  const watched = (at: Database) =>
    createBatcher<StartRow, StartResult>({
      write: (rows) =>
        startRuns(at, rows).catch((thrown) => {
          if (thrown.code === "40P01") deadlocks++;
          throw thrown;
        }),
      // The batcher does not sort the rows here, so the statement itself has to sort them.
      order: () => "",
      ...limits,
    });
  const one = watched(database);
  const other = watched(far);
  for (let round = 0; round < 10; round++) {
    const keys = Array.from({ length: 60 }, (_, index) => `${round}-${index}`);
    const submit = (at: typeof one, key: string) =>
      at.submit(startRow(agent, { key, bodyHash: hash }));
    const results = await Promise.all([
      ...keys.map((key) => submit(one, key)),
      ...keys.toReversed().map((key) => submit(other, key)),
    ]);
    const started = results.filter(({ kind }) => kind === "started");
    expect(started).toHaveLength(60);
    expect(results.filter(({ kind }) => kind === "contended" || kind === "replay")).toHaveLength(
      60,
    );
  }
  expect(deadlocks).toBe(0);
});

test("after a deadlock the rolled back statement is retried", async () => {
  await database.engine.query(
    "create table pair (name text primary key, writes int not null); insert into pair values ('a', 0), ('b', 0)",
  );
  const pool = new Pool({ ...database.settings, max: 2 });
  onTestFinished(() => pool.end());
  // Neither batcher locks its second row before both have locked their first row, so each waits for
  // the row of the other: a deadlock.
  let holding = 0;
  const both = Promise.withResolvers<void>();
  let deadlocks = 0;

  async function write(rows: readonly string[]): Promise<string[]> {
    const client = await pool.connect();
    try {
      await client.query("begin");
      for (const [index, row] of rows.entries()) {
        await client.query("update pair set writes = writes + 1 where name = $1", [row]);
        if (index === 0 && ++holding === 2) both.resolve();
        await both.promise;
      }
      await client.query("commit");
      return [...rows];
    } catch (thrown) {
      deadlocks++;
      await client.query("rollback");
      throw thrown;
    } finally {
      client.release();
    }
  }
  const unsorted = () => createBatcher<string, string>({ write, order: () => "", ...limits });
  const one = unsorted();
  const other = unsorted();
  const results = await Promise.all([
    one.submit("a"),
    one.submit("b"),
    other.submit("b"),
    other.submit("a"),
  ]);
  expect(results).toEqual(["a", "b", "b", "a"]);
  expect(deadlocks).toBeGreaterThan(0);
  const { rows } = await database.engine.query("select name, writes from pair order by name");
  expect(rows).toEqual([
    { name: "a", writes: 2 },
    { name: "b", writes: 2 },
  ]);
});
