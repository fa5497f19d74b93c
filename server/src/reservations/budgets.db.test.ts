// This file is long because all tests, and a property test with random batches, share the helper
// functions that start runs, reserve for them and charge them.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { eventually } from "../../test/eventually.ts";
import { wrongWithBudgets } from "../../test/limits.ts";
import {
  appendRow,
  type SeededAgent,
  seedAgent,
  seedProcess,
  startOne,
  succeeded,
} from "../../test/tenant.ts";
import { appendToRuns, appendUncharged } from "../../test/write-runs.ts";
import { createMutex } from "../base/database/index.ts";
import type { AppendRow } from "../runs/journal/append-row.ts";
import { type AppendEntry, toEntry } from "../runs/journal/journal-entry.ts";
import { reachedStatement } from "../runs/reached-statement.ts";
import { type Amounts, noAmounts } from "./budget.ts";
import { returnReservations } from "./charge-statement.ts";
import { Reservations } from "./reservations.ts";
import { type AskingRun, reserveForRuns } from "./reserve.ts";

/** Tests of the statements that reserve and charge, called directly without HTTP. */

const { database } = await testDatabase();
const { engine } = database;
const owner = await seedProcess(database);

type Run = Awaited<ReturnType<typeof startOne>>;

interface GivenBudget {
  readonly kind: "plan" | "workspace" | "agent" | "trigger";
  readonly metric?: string;
  readonly allowed: number | null;
  /** Time until the budget's period ends, as an SQL interval. Default: one hour. */
  readonly endsIn?: string;
}

async function addBudget(
  agent: SeededAgent,
  { kind, metric = "cost", allowed, endsIn = "1 hour" }: GivenBudget,
): Promise<number> {
  const { rows } = await engine.query<{ id: string }>(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, starts, ends)
      values ($1, $2, $3, $4, $5, now() - interval '1 hour', now() + $6::interval) returning id`,
    [
      agent.workspaceId,
      kind === "agent" ? agent.agentId : agent.workspaceId,
      kind,
      metric,
      allowed,
      endsIn,
    ],
  );
  return Number(rows[0]?.id);
}

async function budget(id: number) {
  const { rows } = await engine.query(
    `select spent::int, reserved::int, crossed, allowed::int, ends > now() as is_present, refused
      from budgets where id = $1`,
    [id],
  );
  return rows[0];
}

const start = (agent: SeededAgent) => startOne(database, agent, { owner, checksLimits: true });

const amounts = (cost: number, tokens = cost): Amounts => ({
  ...noAmounts,
  costMicros: cost,
  planCostMicros: cost,
  tokens,
});

const asking = (run: Run, max: number, used = noAmounts): AskingRun => ({
  runId: run.runId,
  workspaceId: run.workspaceId,
  owner,
  fence: 1,
  call: { maxOutputTokens: max, amountsOf: (count) => amounts(count), used },
});

const reserve = async (...runs: AskingRun[]) => reserveForRuns(database, reachedStatement, runs);
const kinds = async (...runs: AskingRun[]) => (await reserve(...runs)).map(({ kind }) => kind);

/** A metered call in the rows of the append statement. */
type MeteredCall = NonNullable<AppendRow["calls"]>[number]["call"];

const call = (micros: number | null, rest: Partial<MeteredCall> = {}): MeteredCall => ({
  kind: "model",
  step: 1,
  outcome: "answered",
  modelName: "vendor/model",
  usage: { input_tokens: 0, output_tokens: micros ?? 0, cached_input_tokens: 0 },
  price: { micros, standardMicros: null, origin: "workspace" },
  ...rest,
});

/** Ends the run and reports `calls`, which charges them to its budgets. */
const end = (run: Run, calls: readonly MeteredCall[], rest: Partial<AppendRow> = {}) =>
  appendToRuns(database, [
    appendRow(run, owner, {
      transition: succeeded,
      calls: calls.map((each) => ({ entry: 0, call: each })),
      ...rest,
    }),
  ]);

/**
 * Locks a budget in a new transaction on a separate connection. The caller must end the transaction
 * and release the connection.
 */
async function lockBudget(id: number) {
  const client = await engine.connect();
  await client.query("begin");
  await client.query("select from budgets where id = $1 for update", [id]);
  return client;
}

/**
 * Resolves when `count` statements wait for the row that the client's transaction has locked. In
 * PostgreSQL, the first one waits for that transaction, and the others for their turn to lock the
 * row, so both kinds of waits are counted.
 */
async function waitersOf(client: Pick<typeof engine, "query">, count: number): Promise<void> {
  const { rows: holders } = await client.query("select pg_current_xact_id()::text as id");
  const waiting = async () => {
    const { rows } = await engine.query(
      `select from pg_locks l where not granted and (transactionid::text = $1
        or database = (select oid from pg_database where datname = current_database()))`,
      [holders[0]?.id],
    );
    return rows.length;
  };
  await expect.poll(waiting).toBe(count);
}

test("what a run holds is replaced by what it used, in every budget that applies", async () => {
  const agent = await seedAgent(database);
  const ids = [
    await addBudget(agent, { kind: "plan", metric: "tokens", allowed: 1_000 }),
    await addBudget(agent, { kind: "workspace", allowed: 1_000 }),
    await addBudget(agent, { kind: "agent", allowed: 1_000 }),
  ];
  const other = await seedAgent(database, { workspaceId: agent.workspaceId });
  const others = await addBudget(other, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  expect(await kinds(asking(run, 400))).toEqual(["granted"]);
  for (const id of ids) expect(await budget(id)).toMatchObject({ spent: 0, reserved: 400 });
  await end(run, [call(70)]);
  for (const id of ids) expect(await budget(id)).toMatchObject({ spent: 70, reserved: 0 });
  expect(await budget(others)).toMatchObject({ spent: 0, reserved: 0 });
  expect(await wrongWithBudgets(engine)).toEqual([]);
});

test("an append without the charge writes nothing if a budget applies", async () => {
  const agent = await seedAgent(database);
  const run = await start(agent);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const row = appendRow(run, owner, { calls: [{ entry: 0, call: call(5) }] });
  expect(await appendUncharged(database, [row])).toEqual([{ kind: "limited" }]);
  expect(await appendToRuns(database, [row])).toMatchObject([{ kind: "written" }]);
  // The row is sent a second time, as after a lost reply of the database. It must not be charged
  // twice.
  expect(await appendToRuns(database, [row])).toMatchObject([{ kind: "written" }]);
  expect(await wrongWithBudgets(engine)).toEqual([]);
});

test("an append of a run that uses nothing tells its process of a limit, too", async () => {
  const agent = await seedAgent(database);
  const [row, elsewhere] = [
    appendRow(await start(agent), owner),
    appendRow(await start(await seedAgent(database)), owner),
  ];
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  expect(await appendUncharged(database, [row, elsewhere])).toMatchObject([
    { kind: "limited" },
    { kind: "written" },
  ]);
  expect(await appendToRuns(database, [row])).toMatchObject([{ kind: "written" }]);
});

test("a workspace whose limits change has limits until a run asks and finds none", async () => {
  const limited = await seedAgent(database);
  await addBudget(limited, { kind: "agent", allowed: 1_000 });
  const reservations = new Reservations(database, createMutex(), reachedStatement);
  for (const agent of [limited, await seedAgent(database)]) {
    const run = await start(agent);
    expect(reservations.isLimited(run.workspaceId)).toBe(false);
    reservations.wake(run.workspaceId);
    expect(reservations.isLimited(run.workspaceId)).toBe(true);
    await reservations.reserve(asking(run, 1), new AbortController().signal);
    expect(reservations.isLimited(run.workspaceId)).toBe(agent === limited);
  }
});

test("a returned reservation changes no revision, so that other runs keep theirs", async () => {
  const agent = await seedAgent(database);
  const reservations = new Reservations(database, createMutex(), reachedStatement);
  reservations.noteLimited(agent.workspaceId, true);
  const revision = reservations.revision(agent.workspaceId);
  reservations.wakeWaiting(agent.workspaceId);
  expect(reservations.revision(agent.workspaceId)).toBe(revision);
});

test("a run that gives its reservation back holds nothing, and can reserve again", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  const reservations = new Reservations(database, createMutex(), reachedStatement);
  const { signal } = new AbortController();
  await reservations.reserve(asking(run, 400), signal);
  await reservations.returnFirstCall({ ...run, owner, fence: 1 }, signal);
  expect(await budget(id)).toMatchObject({ reserved: 0 });
  expect(await wrongWithBudgets(engine)).toEqual([]);
  await reservations.reserve(asking(run, 900), signal);
  expect(await budget(id)).toMatchObject({ reserved: 900 });
});

test("claimed runs count with the runs of their workspace that wait, until none waits", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  let ends = 0;
  const onNoneWaiting = () => void ends++;
  const reservations = new Reservations(database, createMutex(), reachedStatement, onNoneWaiting);
  const claimed = async () => {
    const run = await start(agent);
    reservations.noteClaimed(run);
    return run;
  };
  const [holding, waiting, later] = [await claimed(), await claimed(), await claimed()];
  const stop = new AbortController();
  await reservations.reserve(asking(holding, 900), stop.signal);
  expect(reservations.waiting()).toEqual(new Map());
  const waits = reservations.reserve(asking(waiting, 900), stop.signal);
  await eventually("a waiting run", () => reservations.waiting().size > 0 || undefined);
  expect(reservations.waiting()).toEqual(new Map([[agent.workspaceId, 2]]));
  reservations.forget(later.runId);
  expect(reservations.waiting()).toEqual(new Map([[agent.workspaceId, 1]]));
  expect(ends).toBe(0);
  stop.abort();
  await expect(waits).rejects.toThrow();
  expect([ends, reservations.waiting()]).toEqual([1, new Map()]);
});

test("runs that wait for a ceiling of their agent block that agent, others the workspace", async () => {
  const one = await seedAgent(database);
  const other = await seedAgent(database, { workspaceId: one.workspaceId });
  await addBudget(one, { kind: "agent", allowed: 1_000 });
  let ends = 0;
  const onNoneWaiting = () => void ends++;
  const reservations = new Reservations(database, createMutex(), reachedStatement, onNoneWaiting);
  const { signal } = new AbortController();
  await reservations.reserve(asking(await start(one), 900), signal);
  const ofAgent = new AbortController();
  const waits = reservations.reserve(asking(await start(one), 900), ofAgent.signal);
  await eventually("the blocked agent", () => reservations.blocked(one.workspaceId)[0]);
  expect(reservations.blocked(one.workspaceId)).toEqual([one.agentId]);
  await addBudget(other, { kind: "workspace", allowed: 1_000 });
  await reservations.reserve(asking(await start(other), 900), signal);
  const ofWorkspace = new AbortController();
  const waitsToo = reservations.reserve(asking(await start(other), 900), ofWorkspace.signal);
  await eventually(
    "the blocked workspace",
    () => reservations.blocked(one.workspaceId)[0] === one.workspaceId || undefined,
  );
  expect(ends).toBe(0);
  ofWorkspace.abort();
  await expect(waitsToo).rejects.toThrow();
  expect([ends, reservations.blocked(one.workspaceId)]).toEqual([1, [one.agentId]]);
  ofAgent.abort();
  await expect(waits).rejects.toThrow();
  expect([ends, reservations.blocked(one.workspaceId)]).toEqual([2, []]);
});

test("a limit that is announced while a run asks is not forgotten when the run finds none", async () => {
  const run = await start(await seedAgent(database));
  const reservations = new Reservations(database, createMutex(), reachedStatement);
  const asked = reservations.reserve(asking(run, 1), new AbortController().signal);
  reservations.wake(run.workspaceId);
  expect(await asked).toMatchObject({ kind: "unlimited" });
  expect(reservations.isLimited(run.workspaceId)).toBe(true);
});

test("a budget that is newer than a reservation gets nothing back", async () => {
  const agent = await seedAgent(database);
  const old = await addBudget(agent, { kind: "workspace", allowed: 1_000 });
  const run = await start(agent);
  await kinds(asking(run, 400));
  const young = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  expect(await budget(young)).toMatchObject({ reserved: 0 });
  await end(run, [call(70)]);
  expect(await budget(old)).toMatchObject({ spent: 70, reserved: 0 });
  expect(await budget(young)).toMatchObject({ spent: 70, reserved: 0 });
});

test("a plan counts standard prices, other limits what is paid", async () => {
  const agent = await seedAgent(database);
  const plan = await addBudget(agent, { kind: "plan", allowed: 1_000 });
  const ceiling = await addBudget(agent, { kind: "workspace", allowed: 1_000 });
  const run = await start(agent);
  await end(run, [
    call(0, { price: { micros: 0, standardMicros: 30, origin: "free" } }),
    call(7, { price: { micros: 7, standardMicros: null, origin: "workspace" } }),
    call(null),
  ]);
  expect(await budget(plan)).toMatchObject({ spent: 37 });
  expect(await budget(ceiling)).toMatchObject({ spent: 7 });
});

test("a period that is over starts the next one, and keeps what is reserved", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000, endsIn: "-1 second" });
  await engine.query(
    "update budgets set spent = 1000, crossed = 100, refused = true where id = $1",
    [id],
  );
  const [first, second] = [await start(agent), await start(agent)];
  expect(await kinds(asking(first, 400))).toEqual(["granted"]);
  const fresh = { spent: 0, reserved: 400, crossed: 0, refused: false, is_present: true };
  expect(await budget(id)).toMatchObject(fresh);
  await engine.query(
    "update budgets set spent = 900, ends = now() - interval '1 second' where id = $1",
    [id],
  );
  await end(second, [call(10)]);
  expect(await budget(id)).toMatchObject({ ...fresh, spent: 10 });
  await end(first, [call(20)]);
  expect(await budget(id)).toMatchObject({ spent: 30, reserved: 0 });
});

test("the next month of a plan does not end before a month has passed if the zone moved west", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "plan", allowed: 1_000, endsIn: "-1 second" });
  // A month of the plan now begins on the date that is tomorrow in the new zone. So the current
  // month ends at the next midnight of this zone.
  await engine.query(
    `update workspaces set time_zone = 'Etc/GMT+12',
      plan_anchor = extract(day from (now() + interval '12 hours') at time zone 'UTC') where id = $1`,
    [agent.workspaceId],
  );
  expect(await kinds(asking(await start(agent), 400))).toEqual(["granted"]);
  const { rows } = await engine.query(
    "select ends - starts > interval '27 days' as is_month, starts <= now() as is_present from budgets where id = $1",
    [id],
  );
  expect(rows).toEqual([{ is_month: true, is_present: true }]);
});

test("a planned allowance takes the place of the present one when the period ends", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "plan", allowed: 100, endsIn: "-1 second" });
  await engine.query("update budgets set changes_next = true, next_allowed = 700 where id = $1", [
    id,
  ]);
  expect((await reserve(asking(await start(agent), 1_000)))[0]).toMatchObject({
    kind: "granted",
    outputTokens: 700,
  });
  expect(await budget(id)).toMatchObject({ allowed: 700, reserved: 700 });
});

test("a budget that is used up and rejects a run remembers it until the period ends", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  await engine.query("update budgets set spent = 900 where id = $1", [id]);
  expect(await kinds(asking(await start(agent), 1_000))).toEqual(["spent"]);
  expect(await budget(id)).toMatchObject({ refused: true, reserved: 0 });
  await engine.query("update budgets set spent = 0 where id = $1", [id]);
});

test("a large request is rejected alone unless what is left is too little for a small one", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000_000 });
  const askLarge = async () => {
    const run = asking(await start(agent), 1_000);
    const amountsOf = (count: number) => amounts(2_000_000 + count);
    return kinds({ ...run, call: { ...run.call, amountsOf } });
  };
  expect(await askLarge()).toEqual(["spent"]);
  expect(await budget(id)).toMatchObject({ refused: false, reserved: 0 });
  expect(await kinds(asking(await start(agent), 1_000))).toEqual(["granted"]);
  await engine.query("update budgets set spent = 980000 where id = $1", [id]);
  expect(await askLarge()).toEqual(["spent"]);
  expect(await budget(id)).toMatchObject({ refused: true });
  await engine.query("update budgets set spent = 0 where id = $1", [id]);
});

test("a rejected run holds what its failed attempts used, and returns no more than that", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const [rejected, other] = [await start(agent), await start(agent)];
  await kinds(asking(rejected, 600), asking(other, 300));
  await engine.query("update budgets set allowed = 100 where id = $1", [id]);
  expect(await kinds(asking(rejected, 600, amounts(50)))).toEqual(["spent"]);
  expect(await budget(id)).toMatchObject({ spent: 0, reserved: 350 });
  await end(rejected, [call(50)]);
  expect(await budget(id)).toMatchObject({ spent: 50, reserved: 300 });
  await end(other, []);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a run that is rejected by a limit set after its first attempt leaves nothing reserved", async () => {
  const agent = await seedAgent(database);
  const run = await start(agent);
  const id = await addBudget(agent, { kind: "agent", allowed: 100 });
  expect(await kinds(asking(run, 600, amounts(20)))).toEqual(["spent"]);
  await end(run, [call(20)]);
  expect(await budget(id)).toMatchObject({ spent: 20, reserved: 0 });
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a reservation that is sent again while the first statement still runs is held once", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  const other = await lockBudget(id);
  // Sends the same request twice. This happens after a lost connection: PostgreSQL notices the loss
  // only when the first statement ends, so it still executes that statement when the request is
  // sent again.
  const sent = [kinds(asking(run, 400)), kinds(asking(run, 400))];
  await waitersOf(other, 2);
  await other.query("commit");
  other.release();
  expect(await Promise.all(sent)).toEqual([["granted"], ["granted"]]);
  expect(await budget(id)).toMatchObject({ reserved: 400 });
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a charge after the end of a period starts the next one there, and no entry counts twice", async () => {
  const agent = await seedAgent(database);
  const ids = [
    await addBudget(agent, { kind: "plan", metric: "tokens", allowed: 1_000 }),
    await addBudget(agent, { kind: "agent", allowed: 1_000 }),
  ];
  const [earlier, later] = [await start(agent), await start(agent)];
  await end(earlier, [call(70)]);
  await engine.query("update budgets set ends = now() where workspace_id = $1", [
    agent.workspaceId,
  ]);
  await end(later, [call(30)]);
  for (const id of ids) expect(await budget(id)).toMatchObject({ spent: 30, is_present: true });
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test.each([
  [
    "an artifact is",
    "insert into artifacts (id, workspace_id, run_id, media_type, content) values ($3, $1, $2, '', '')",
  ],
  [
    "an output is",
    `insert into run_results (run_id, workspace_id, input_tokens, output_tokens,
        cached_input_tokens, usage_estimated)
      select $2, $1, 0, 0, 0, false where $3 <> ''`,
  ],
])("%s inserted before budgets are locked", async (_what, insertSame) => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  const entry = toEntry({ type: "run.step", data: { text: "x".repeat(70_000) } } as never);
  // This transaction inserts a row with the same key as the append. So the insert of the append
  // waits until this transaction ends.
  const other = await engine.connect();
  await other.query("begin");
  await other.query(insertSame, [run.workspaceId, run.runId, entry.artifact?.id]);
  const ended = end(run, [call(30)], { entries: [entry] });
  await waitersOf(other, 1);
  const { rows } = await engine.query("select from budgets where id = $1 for update skip locked", [
    id,
  ]);
  await other.query("rollback");
  other.release();
  expect(rows).toHaveLength(1);
  expect(await ended).toMatchObject([{ kind: "written" }]);
  expect(await budget(id)).toMatchObject({ spent: 30 });
});

test("a charge is not added to a period that another transaction began while it waited", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  const other = await lockBudget(id);
  const ended = end(run, [call(30)]);
  await waitersOf(other, 1);
  await other.query("update budgets set starts = clock_timestamp() where id = $1", [id]);
  await other.query("commit");
  other.release();
  expect(await ended).toMatchObject([{ kind: "written" }]);
  expect(await budget(id)).toMatchObject({ spent: 0 });
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a charge is added to a period that a clock ahead of time has begun too early", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  await engine.query("update budgets set starts = now() + interval '1 minute' where id = $1", [id]);
  await end(await start(agent), [call(30)]);
  expect(await budget(id)).toMatchObject({ spent: 30 });
  // Moves the start of the period before the entry, because `wrongWithBudgets`, which other tests
  // call for all budgets, compares `spent` with the sum of the entries since `starts`.
  await engine.query("update budgets set starts = now() - interval '1 hour' where id = $1", [id]);
});

test("runs wait for what is reserved, in the order in which they asked", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const runs = [await start(agent), await start(agent), await start(agent), await start(agent)];
  const [a, b, c, d] = runs as [Run, Run, Run, Run];
  expect(await kinds(asking(a, 600))).toEqual(["granted"]);
  expect(await kinds(asking(b, 600))).toEqual(["waits"]);
  expect(await kinds(asking(c, 300))).toEqual(["waits"]);
  expect(await kinds(asking(d, 300), asking(c, 300))).toEqual(["waits", "waits"]);
  await end(a, [call(100)]);
  expect(await kinds(asking(d, 300), asking(c, 300), asking(b, 600))).toEqual([
    "waits",
    "granted",
    "granted",
  ]);
  expect(await budget(id)).toMatchObject({ spent: 100, reserved: 900 });
  expect(await wrongWithBudgets(engine)).toEqual([]);
});

test("a run does not overtake one that waits, even if what it asks for is free", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const [large, waiting, small] = [await start(agent), await start(agent), await start(agent)];
  expect(await kinds(asking(large, 800))).toEqual(["granted"]);
  expect(await kinds(asking(waiting, 800))).toEqual(["waits"]);
  expect(await kinds(asking(small, 100))).toEqual(["waits"]);
  await end(large, []);
  expect(await kinds(asking(small, 300))).toEqual(["waits"]);
  expect(await kinds(asking(waiting, 800))).toEqual(["granted"]);
  expect(await kinds(asking(small, 100))).toEqual(["granted"]);
});

test("of runs that ask together, each is limited by its own budgets only", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const unlimited = await seedAgent(database, { workspaceId: agent.workspaceId });
  const elsewhere = await seedAgent(database);
  const runs = [await start(agent), await start(agent), await start(unlimited)];
  const results = await reserve(
    ...[...runs, await start(elsewhere)].map((run) => asking(run, 300)),
  );
  expect(results).toMatchObject([
    { kind: "granted", isLimited: true },
    { kind: "granted", isLimited: true },
    { kind: "unlimited", isLimited: true },
    { kind: "unlimited", isLimited: false },
  ]);
  expect(await budget(id)).toMatchObject({ reserved: 600 });
  expect(await wrongWithBudgets(engine)).toEqual([]);
});

test("a reservation says whether an amount of cost or tokens restricts the call", async () => {
  const agent = await seedAgent(database);
  const other = await seedAgent(database, { workspaceId: agent.workspaceId });
  const runs = [await start(agent), await start(other)];
  // Runs that hold nothing yet reserve in one statement, others in a transaction.
  const restricted = async () =>
    [
      ...(await reserve(...runs.map((run) => asking(run, 300)))),
      ...(await reserve(...runs.map((run) => asking(run, 400)))),
    ].map((result) => result.kind === "granted" && result.isRestricted);
  const id = await addBudget(agent, { kind: "plan", metric: "tokens", allowed: null });
  await addBudget(agent, { kind: "plan", metric: "voice", allowed: 1_000 });
  expect(await restricted()).toEqual([false, false, false, false]);
  expect(await budget(id)).toMatchObject({ reserved: 800 });
  await addBudget(other, { kind: "agent", allowed: 1_000 });
  await engine.query("delete from reservations where workspace_id = $1", [agent.workspaceId]);
  await engine.query("update budgets set reserved = 0 where id = $1", [id]);
  expect(await restricted()).toEqual([false, true, false, true]);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("a limit in money does not restrict a call that costs nothing", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const run = await start(agent);
  const restricted = async (of: Partial<Amounts>) => {
    const call = {
      maxOutputTokens: 300,
      amountsOf: () => ({ ...noAmounts, tokens: 300, ...of }),
      used: noAmounts,
    };
    const results = [
      ...(await reserve({ ...asking(await start(agent), 300), call })),
      ...(await reserve({ ...asking(run, 300), call })),
    ];
    return results.map((result) => result.kind === "granted" && result.isRestricted);
  };
  // The run that holds nothing yet reserves in one statement, the other one in a transaction.
  await reserve(asking(run, 1));
  expect(await restricted({})).toEqual([false, false]);
  expect(await restricted({ costMicros: 1 })).toEqual([true, true]);
  await addBudget(agent, { kind: "plan", metric: "cost", allowed: 1_000 });
  expect(await restricted({ planCostMicros: 1 })).toEqual([true, true]);
  await addBudget(agent, { kind: "plan", metric: "tokens", allowed: 1_000_000 });
  expect(await restricted({})).toEqual([true, true]);
  expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
});

test("an unlimited amount restricts the call once its planned amount is due", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: null, endsIn: "-1 second" });
  await engine.query("update budgets set changes_next = true, next_allowed = 700 where id = $1", [
    id,
  ]);
  expect(await reserve(asking(await start(agent), 1_000))).toMatchObject([
    { kind: "granted", outputTokens: 700, isRestricted: true },
  ]);
});

test("a run to which only its own limit applies is told that nothing is reserved", async () => {
  const agent = await seedAgent(database);
  const elsewhere = await seedAgent(database, { workspaceId: agent.workspaceId });
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const own = { scope: "run", metric: "cost", allowed: 500, spent: 0, resetsAt: null } as const;
  for (const used of [noAmounts, amounts(1)]) {
    const runs = [await start(agent), await start(elsewhere)].map((run) => ({
      ...asking(run, 300, used),
      runLimit: { ...own, scopeId: run.runId },
    }));
    expect(await kinds(...runs)).toEqual(["granted", "fits"]);
  }
  expect(await wrongWithBudgets(engine)).toEqual([]);
});

test("a call without a known price is rejected by a limit in money, not by one in tokens", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "plan", metric: "tokens", allowed: 1_000 });
  const unpriced = { ...amounts(100), costMicros: null, planCostMicros: null };
  const call = { maxOutputTokens: 100, amountsOf: () => unpriced, used: noAmounts };
  const ask = async () => kinds({ ...asking(await start(agent), 100), call });
  expect(await ask()).toEqual(["granted"]);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  expect(await ask()).toEqual(["price_unknown"]);
});

test("of many waiting runs, a wake lets only those ask again that have waited longest", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  await kinds(asking(await start(agent), 1_000));
  const runs = await Promise.all(Array.from({ length: 40 }, () => start(agent)));
  const stop = new AbortController();
  /** For each statement, the runs that ask in it. Runs that ask at the same time share one. */
  const asked: Set<string>[] = [];
  const reservations = new Reservations(
    database,
    async (act) => {
      asked.push(new Set());
      reservations.wakeWaiting(agent.workspaceId);
      const result = await act();
      if (asked.length === 4) stop.abort();
      return result;
    },
    reachedStatement,
  );
  const waiting = runs.map((run) => {
    const { call, ...rest } = asking(run, 500);
    const amountsOf = (count: number) => {
      asked.at(-1)?.add(run.runId);
      return call.amountsOf(count);
    };
    return reservations.reserve({ ...rest, call: { ...call, amountsOf } }, stop.signal);
  });
  await Promise.allSettled(waiting);
  expect(asked.map(({ size }) => size)).toEqual([40, 16, 16, 16]);
});

test("a run whose process is gone loses its turn", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const [a, b, c] = [await start(agent), await start(agent), await start(agent)];
  await kinds(asking(a, 600));
  expect(await kinds(asking(b, 600))).toEqual(["waits"]);
  expect(await kinds(asking(c, 300))).toEqual(["waits"]);
  await engine.query(
    "update reservations set seen_at = now() - interval '16 seconds' where run_id = $1",
    [b.runId],
  );
  expect(await kinds(asking(c, 300))).toEqual(["granted"]);
});

test("a charge returns the workspaces whose runs wait", async () => {
  const agent = await seedAgent(database);
  await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const [a, b] = [await start(agent), await start(agent)];
  const woken: string[] = [];
  const onReturned = (ids: readonly string[]) => woken.push(...ids);
  await kinds(asking(a, 600), asking(b, 300));
  const row = appendRow(a, owner, { calls: [{ entry: 0, call: call(5) }] });
  await appendToRuns(database, [row], { onReturned });
  expect(woken).toEqual([]);
  await kinds(asking(a, 600));
  await kinds(asking(await start(agent), 600));
  await appendToRuns(database, [appendRow(b, owner, { transition: succeeded })], { onReturned });
  expect(woken).toEqual([agent.workspaceId]);
});

test("what ended runs hold is returned, if the statement that ended them did not do it", async () => {
  const agent = await seedAgent(database);
  const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
  const [ended, deleted, running] = [await start(agent), await start(agent), await start(agent)];
  await kinds(asking(ended, 100), asking(deleted, 200), asking(running, 400));
  await engine.query("update runs set status = 'cancelled', finished_at = now() where id = $1", [
    ended.runId,
  ]);
  await engine.query("delete from runs where id = $1", [deleted.runId]);
  expect(await returnReservations(database)).toEqual([agent.workspaceId]);
  expect(await budget(id)).toMatchObject({ reserved: 400 });
  expect(await returnReservations(database)).toEqual([]);
});

describe("what a run holds that a stopping process has released to the queue", () => {
  const queued = (reported: boolean) =>
    toEntry({ type: "run.queued", data: reported ? { calls_reported: true } : {} });
  const resumed = toEntry({ type: "run.resumed", data: { attempt: 1 } });
  const release = (run: Run, ...entries: AppendEntry[]) =>
    appendToRuns(database, [appendRow(run, owner, { entries, transition: "queued" })]);

  test("is returned if its journal reports all calls, and else kept for a lost one", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
    const runs = [await start(agent), await start(agent), await start(agent), await start(agent)];
    const [reported, twice, lost, takenOver] = runs as [Run, Run, Run, Run];
    await kinds(
      asking(reported, 100),
      asking(twice, 150),
      asking(lost, 200),
      asking(takenOver, 300),
    );
    await release(reported, queued(true));
    await release(twice, queued(true), resumed, queued(true));
    await release(lost, queued(false));
    await release(takenOver, resumed, queued(true));
    expect(await returnReservations(database)).toEqual([agent.workspaceId]);
    expect(await budget(id)).toMatchObject({ reserved: 500 });
    expect(await wrongWithBudgets(engine, agent.workspaceId)).toEqual([]);
    expect(await returnReservations(database)).toEqual([]);
  });

  test("is kept if the run has reserved again", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, { kind: "agent", allowed: 1_000 });
    const run = await start(agent);
    await kinds(asking(run, 100));
    await release(run, queued(true));
    const other = await lockBudget(id);
    const returned = returnReservations(database);
    await waitersOf(other, 1);
    await other.query("update reservations set seen_at = clock_timestamp() where run_id = $1", [
      run.runId,
    ]);
    await other.query("commit");
    other.release();
    expect(await returned).toEqual([]);
    expect(await budget(id)).toMatchObject({ reserved: 100 });
    expect(await returnReservations(database)).toEqual([agent.workspaceId]);
  });

  test("is kept if the run waits, because it also keeps the position in the queue", async () => {
    const agent = await seedAgent(database);
    await addBudget(agent, { kind: "agent", allowed: 1_000 });
    const [large, waiting] = [await start(agent), await start(agent)];
    expect(await kinds(asking(large, 800), asking(waiting, 800))).toEqual(["granted", "waits"]);
    await release(waiting, queued(true));
    expect(await returnReservations(database)).toEqual([]);
  });
});

describe("thresholds", () => {
  const thresholds = async ({ workspaceId }: SeededAgent) => {
    const { rows } = await engine.query(
      `select id, (data ->> 'percent')::int as percent from workspace_events
        where workspace_id = $1 order by number`,
      [workspaceId],
    );
    return rows;
  };

  test("that one charge crosses are written together, with ids of the usual form", async () => {
    const agent = await seedAgent(database);
    const runs = [await start(agent), await start(agent), await start(agent), await start(agent)];
    await addBudget(agent, { kind: "agent", allowed: 100 });
    const [a, b, c, d] = runs as [Run, Run, Run, Run];
    await end(a, [call(85)]);
    const rows = await thresholds(agent);
    expect(rows.map(({ percent }) => percent)).toEqual([50, 80]);
    for (const { id } of rows) expect(id).toMatch(/^evt_0[0-9a-hjkmnp-tv-z]{25}$/);
    await end(b, [call(5)]);
    await end(c, [call(10)]);
    await end(d, [call(10)]);
    expect((await thresholds(agent)).map(({ percent }) => percent)).toEqual([50, 80, 100]);
  });

  test("of a limit of 0 are not written while nothing is spent", async () => {
    const agent = await seedAgent(database);
    await addBudget(agent, { kind: "agent", allowed: 0, endsIn: "-1 second" });
    await end(await start(agent), [call(0)]);
    expect(await thresholds(agent)).toEqual([]);
    await end(await start(agent), [call(1)]);
    expect((await thresholds(agent)).map(({ percent }) => percent)).toEqual([50, 80, 100]);
  });

  test("of a limit of which a call finds too little left are written once, up to 100 percent", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, { kind: "agent", allowed: 100 });
    const [holder, spender] = [await start(agent), await start(agent)];
    await end(await start(agent), [call(60)]);
    expect((await thresholds(agent)).map(({ percent }) => percent)).toEqual([50]);
    await kinds(asking(holder, 10));
    const asked = Array.from({ length: 4 }, async () => asking(await start(agent), 80));
    const results = (await Promise.all(asked)).map(async (run) => kinds(run));
    expect((await Promise.all(results)).flat()).toEqual(["spent", "spent", "spent", "spent"]);
    expect(await budget(id)).toMatchObject({ refused: true, crossed: 100, spent: 60 });
    await end(holder, [call(10)]);
    await end(spender, [call(50)]);
    const { rows } = await engine.query(
      `select agent_id, type, data from workspace_events where workspace_id = $1
        order by number offset 1`,
      [agent.workspaceId],
    );
    const reached = { scope: "agent", scope_id: agent.agentId, metric: "cost", used: 60 };
    expect(rows).toEqual(
      [80, 100].map((percent) => ({
        agent_id: agent.agentId,
        type: "usage.threshold",
        data: { ...reached, limit: 100, percent, resets_at: expect.any(String) },
      })),
    );
    await engine.query("update budgets set ends = now() - interval '1 s' where id = $1", [id]);
    expect(await kinds(asking(await start(agent), 101))).toEqual(["spent"]);
    expect((await thresholds(agent)).map(({ percent }) => percent)).toEqual([
      50, 80, 100, 50, 80, 100,
    ]);
  });

  test("are written again in the next period", async () => {
    const agent = await seedAgent(database);
    const id = await addBudget(agent, { kind: "agent", allowed: 100 });
    await end(await start(agent), [call(60)]);
    await engine.query("update budgets set ends = now() - interval '1 s' where id = $1", [id]);
    await end(await start(agent), [call(60)]);
    expect((await thresholds(agent)).map(({ percent }) => percent)).toEqual([50, 50]);
  });
});

test("for random batches at two processes, all sums stay exact and no limit is exceeded", async () => {
  const step = fc.record({
    agents: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 6 }),
    max: fc.integer({ min: 1, max: 600 }),
    share: fc.integer({ min: 0, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const first = await seedAgent(database);
      const { workspaceId } = first;
      const agents = [
        first,
        await seedAgent(database, { workspaceId }),
        await seedAgent(database, { workspaceId }),
      ];
      const started = await Promise.all(
        steps.map((each) => Promise.all(each.agents.map((index) => start(agents[index] ?? first)))),
      );
      await addBudget(first, { kind: "workspace", allowed: 3_000 });
      await addBudget(first, { kind: "plan", metric: "tokens", allowed: 4_000 });
      for (const agent of agents.slice(0, 2))
        await addBudget(agent, { kind: "agent", allowed: 1_500 });
      // The steps run at the same time, like processes: each reserves for its runs, and then
      // charges the runs that got a reservation.
      await Promise.all(
        steps.map(async ({ max, share }, at) => {
          const runs = started[at] ?? [];
          const results = await reserve(...runs.map((run) => asking(run, max)));
          await appendToRuns(
            database,
            runs.flatMap((run, index) => {
              const result = results[index];
              if (result?.kind !== "granted") return [];
              const used = Math.floor((result.outputTokens * share) / 100);
              return appendRow(run, owner, {
                transition: succeeded,
                calls: [{ entry: 0, call: call(used) }],
              });
            }),
          );
        }),
      );
      expect(await wrongWithBudgets(engine, workspaceId)).toEqual([]);
    }),
    { numRuns: 20 },
  );
});
