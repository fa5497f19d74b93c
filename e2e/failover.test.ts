import { afterAll, afterEach, expect, it, onTestFinished } from "vitest";
import { openCaller } from "../server/test/crash/calls.ts";
import { isWithdrawn } from "../server/test/crash/check-guarantees.ts";
import { install, leaseSeconds, maxAttempts, planned } from "../server/test/crash/installation.ts";
import { ownerOf, readRuns, type StoredRun } from "../server/test/crash/journal.ts";
import { seeded } from "../server/test/crash/random.ts";
import { answerOf, openWorld, type Plan } from "../server/test/crash/world.ts";
import { testDatabase } from "../server/test/database.ts";
import { eventually } from "../server/test/eventually.ts";

/** Two server processes on one database. Each test kills, stops or blocks at least one. */
const { url, database } = await testDatabase();
const pool = database.engine;
const world = await openWorld();
const installation = await install(world, url, 2);
const { fleet } = installation;
const caller = openCaller(installation, seeded(1));
afterAll(async () => {
  await installation.close();
  await world.close();
});

// A process that lost its lease must detect the loss before it writes. A write without this check
// would violate a constraint, which the servers log as an error.
afterEach(() => expect(fleet.errors).toEqual([]));

const maxWaitMs = 60_000;
/** So that one of the waits of a test fails, with an error that names it. */
const testTimeoutMs = 4 * maxWaitMs;
/**
 * Three times the documented limit for the detection of a process exit and the failover, because
 * the machine that runs the tests is busy.
 */
const maxFailoverMs = 3 * (leaseSeconds + 5) * 1_000;

const first = () => {
  const [server] = fleet.servers;
  if (server === undefined) throw new Error("there is no first server");
  return server;
};

/**
 * The runs of a plan, without those that the server cancelled because their caller got a 503
 * although the run was written.
 */
const runsOf = async (plan: Plan) =>
  (await readRuns(pool, plan)).filter((run) => !isWithdrawn(run));

async function runOf(plan: Plan): Promise<StoredRun> {
  const found = await runsOf(plan);
  expect(found).toHaveLength(1);
  return found[0] as StoredRun;
}

const ended = (plan: Plan, within = maxWaitMs) =>
  eventually(
    "the run's end",
    async () => {
      // `others` contains runs that were written although their caller got a 503, until the server
      // has cancelled them.
      const [run, ...others] = await runsOf(plan);
      return run !== undefined && others.length === 0 && run.ends.length > 0 ? run : undefined;
    },
    within,
  );

/**
 * Returns the id of the process that owns the run, which must be the first server. After the server
 * was stopped, its id is not that of `first()`.
 */
async function ownedByFirst(plan: Plan): Promise<string> {
  const owner = (await ownerOf(pool, plan)) ?? "";
  expect(fleet.slotOf(owner)).toBe(0);
  return owner;
}

const hasNewOwner = (plan: Plan, from: string | undefined) =>
  eventually(
    "another owner",
    async () => ((await ownerOf(pool, plan)) === from ? undefined : true),
    maxWaitMs,
  );

/**
 * Waits until the first server executes the runs that it accepts. After its startup, a server
 * queues accepted runs until it has found the queue empty. Until then, another server could execute
 * them.
 */
const firstExecutes = () =>
  eventually(
    "a run that the first server executes at once",
    async () => {
      const plan = planned();
      await caller.send({ plan, source: "invoke", keyed: false }, { at: 0 });
      return (await runOf(plan)).types[0] === "run.started" || undefined;
    },
    maxWaitMs,
  );

async function eventsOf(plan: Plan): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select e.seq || ' ' || e.type as line from events e join run_inputs i on i.run_id = e.run_id where i.payload = $1 order by e.seq`,
    [JSON.stringify(plan)],
  );
  return rows.map(({ line }) => line);
}

/** Resolves when the process has a `died_at`, and exactly `alive` processes have none. */
const isReplaced = (processId: string, alive: number) =>
  eventually(
    "a new process id for a process that was declared dead",
    async () => {
      const { rows } = await pool.query<{ dead: boolean; alive: number }>(
        "select bool_or(id = $1 and died_at is not null) as dead, count(*) filter (where died_at is null)::int as alive from processes",
        [processId],
      );
      return (rows[0]?.dead && rows[0].alive === alive) || undefined;
    },
    maxWaitMs,
  );

it(
  "returns the same run for a repeat with the same Idempotency-Key after its process was killed",
  async () => {
    await firstExecutes();
    const plan = planned({ steps: ["unsafe", "safe"] });
    const gate = world.holdModel(plan.nonce, 1);
    const sent = caller.send({ plan, source: "invoke", keyed: true }, { at: 0 });
    await gate.reached;
    expect(await ownerOf(pool, plan)).toBe(first().processId);
    const { restarted } = await fleet.kill(0, { notify: true });
    gate.release();

    const call = await sent;
    expect(call).toMatchObject({ status: 200, replayed: true });
    expect(call.acknowledged).toHaveLength(1);
    const run = await runOf(plan);
    expect(call.acknowledged[0]).toMatchObject({ runId: run.id, output: answerOf(plan.nonce) });
    expect(run).toMatchObject({ status: "succeeded", attempt: 2, steps: 3, lost: 1 });
    expect(
      world.effects.filter(({ nonce }) => nonce === plan.nonce).map(({ tool }) => tool),
    ).toEqual(["unsafe_effect", "safe_effect"]);
    expect(world.modelCalls.get(plan.nonce)).toEqual({ made: 4, failed: 0 });
    await restarted;
  },
  testTimeoutMs,
);

it.each([
  { notify: false, how: "by its lease" },
  { notify: true, how: "by its supervisor" },
])(
  "detects a process exit $how and resumes its runs within the lease and five seconds",
  async ({ notify, how }) => {
    await firstExecutes();
    const plan = planned();
    const gate = world.holdModel(plan.nonce);
    await caller.send({ plan, source: "fire", keyed: true }, { at: 0 });
    await gate.reached;
    const owner = first().processId;
    expect(await ownerOf(pool, plan)).toBe(owner);

    const began = performance.now();
    const { restarted } = await fleet.kill(0, { notify });
    await hasNewOwner(plan, owner);
    const took = performance.now() - began;
    console.log(
      `failover after ${took.toFixed(0)} ms, detected ${how}, with a lease of ${leaseSeconds} s`,
    );
    expect(took).toBeLessThan(maxFailoverMs);
    gate.release();
    expect(await ended(plan)).toMatchObject({ status: "succeeded", attempt: 2 });
    await restarted;
  },
  testTimeoutMs,
);

it(
  "resumes a draft run with its own configuration",
  async () => {
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${first().url}/api/public${path}`, {
        method: "POST",
        headers: { "x-api-key": installation.key, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(201);
      return (await response.json()) as { data: { id: string } };
    };
    // The saved configuration uses the model `demo/echo`, which returns the input. The expected
    // output therefore shows that the draft's configuration was used.
    const { data: saved } = await post("/agents", { name: "Saved", model: "demo/echo" });
    const plan = planned({ steps: ["safe"] });
    const gate = world.holdModel(plan.nonce, 1);
    const config = { model: "world/scripted" };
    await post(`/agents/${saved.id}/draft-runs`, { input: JSON.stringify(plan), config });
    await gate.reached;
    const owner = await ownerOf(pool, plan);
    const slot = fleet.servers.findIndex(({ processId }) => processId === owner);
    const { restarted } = await fleet.kill(slot, { notify: true });
    await hasNewOwner(plan, owner);
    gate.release();
    expect(await ended(plan)).toMatchObject({ status: "succeeded", attempt: 2 });
    const { rows } = await pool.query(
      "select r.output, i.source from run_results r join run_inputs i on i.run_id = r.run_id where i.payload = $1",
      [JSON.stringify(plan)],
    );
    expect(rows).toEqual([{ output: answerOf(plan.nonce), source: "draft" }]);
    await restarted;
  },
  testTimeoutMs,
);

it(
  "fails a run that kills its process in each attempt, while other runs succeed",
  async () => {
    const killer = planned({ steps: ["safe"] });
    world.order(killer.nonce, () => ({ order: "kill" }));
    await caller.send({ plan: killer, source: "fire", keyed: true });
    const others: Promise<unknown>[] = [];
    const plans: Plan[] = [];
    const killed = await eventually(
      "the end of the run that kills its process",
      async () => {
        const plan = planned({ steps: ["safe", "unsafe"], thinkMs: 50 });
        plans.push(plan);
        others.push(
          caller.send({ plan, source: plans.length % 2 === 0 ? "invoke" : "fire", keyed: true }),
        );
        const [run, ...more] = await runsOf(killer);
        return run !== undefined && more.length === 0 && run.ends.length > 0 ? run : undefined;
      },
      2 * maxWaitMs,
    );
    await Promise.all(others);

    expect(killed).toMatchObject({
      status: "failed",
      error_code: "interrupted",
      attempt: 3,
      calls: [{ outcome: "unknown" }],
    });
    const effects = world.effects.filter(({ nonce }) => nonce === killer.nonce);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
    expect(new Set(effects.map(({ pid }) => pid)).size).toBe(effects.length);
    // The run gets more than three attempts only if other runs on their last attempt were executed
    // by the same process: then it is not known which run caused the exit, so each gets another
    // attempt.
    expect(effects.length).toBeGreaterThanOrEqual(3);
    expect(effects.length).toBeLessThanOrEqual(
      maxAttempts - 1 + Math.ceil(Math.log2(plans.length + 1)) + 1,
    );
    for (const plan of plans)
      expect(await ended(plan)).toMatchObject({
        status: "succeeded",
        output: answerOf(plan.nonce),
      });
    await eventually(
      "both servers",
      () => fleet.servers.every(({ up }) => up) || undefined,
      maxWaitMs,
    );
  },
  testTimeoutMs,
);

it(
  "isolates a run that kills its process among 20 others after few process exits",
  async () => {
    const killer = planned({ steps: ["safe"], thinkMs: 300 });
    world.order(killer.nonce, () => ({ order: "kill" }));
    const healthy = Array.from({ length: 20 }, () =>
      planned({ steps: ["unsafe", "safe"], thinkMs: 300 }),
    );
    const plans = [...healthy.slice(0, 10), killer, ...healthy.slice(10)];
    await Promise.all(
      plans.map((plan) => caller.send({ plan, source: "fire", keyed: true }, { at: 0 })),
    );

    const within = 3 * maxWaitMs;
    const killed = await ended(killer, within);
    expect(killed).toMatchObject({
      status: "failed",
      error_code: "interrupted",
      attempt: maxAttempts,
    });
    for (const plan of healthy)
      expect(await ended(plan, within)).toMatchObject({
        status: "succeeded",
        output: answerOf(plan.nonce),
      });
    const unsafe = world.effects.filter(
      ({ tool, nonce }) => tool === "unsafe_effect" && healthy.some((plan) => plan.nonce === nonce),
    );
    expect(unsafe.length).toBeLessThanOrEqual(healthy.length);
    const deaths = new Set(
      world.effects.filter(({ nonce }) => nonce === killer.nonce).map(({ pid }) => pid),
    ).size;
    console.log(`one run of ${plans.length} killed ${deaths} processes`);
    expect(deaths).toBeLessThanOrEqual(maxAttempts - 1 + Math.ceil(Math.log2(plans.length)) + 1);
    await eventually(
      "both servers",
      () => fleet.servers.every(({ up }) => up) || undefined,
      maxWaitMs,
    );
  },
  8 * maxWaitMs,
);

it(
  "rejects all writes of a process that was stopped for longer than its lease",
  async () => {
    await firstExecutes();
    const thinking = planned();
    const acting = planned({ steps: ["unsafe"] });
    const model = world.holdModel(thinking.nonce);
    const effect = world.holdEffects(acting.nonce);
    for (const plan of [thinking, acting])
      await caller.send({ plan, source: "fire", keyed: true }, { at: 0 });
    await Promise.all([model.reached, effect.reached]);
    const dead = await ownedByFirst(thinking);
    expect(await ownerOf(pool, acting)).toBe(dead);

    fleet.stop(0);
    await Promise.all([hasNewOwner(thinking, dead), hasNewOwner(acting, dead)]);
    const closed = await ended(acting);
    await eventually(
      "the lost call in the journal",
      async () => ((await runOf(thinking)).lost === 1 ? true : undefined),
      maxWaitMs,
    );
    const before = [await eventsOf(thinking), await eventsOf(acting)];

    // The model and the tool respond to the first process. They still hold the requests of the
    // second process.
    fleet.resume(0);
    model.releaseFirst();
    effect.releaseFirst();
    await isReplaced(dead, 2);
    const after = await caller.send(
      { plan: planned({ steps: ["safe"] }), source: "invoke", keyed: false },
      { at: 0 },
    );
    expect(after.status).toBe(200);

    expect([await eventsOf(thinking), await eventsOf(acting)]).toEqual(before);
    expect(await runOf(thinking)).toMatchObject({
      status: "running",
      fence: 2,
      owner: fleet.servers[1]?.processId,
    });
    model.release();
    effect.release();
    expect(await ended(thinking)).toMatchObject({
      status: "succeeded",
      fence: 2,
      steps: 1,
      lost: 1,
      owner: fleet.servers[1]?.processId,
    });
    expect(closed).toMatchObject({
      status: "succeeded",
      calls: [{ outcome: "unknown" }],
      fence: 2,
    });
    expect(world.effects.filter(({ nonce }) => nonce === acting.nonce)).toHaveLength(1);
    expect(world.modelCalls.get(thinking.nonce)?.made).toBe(2);
  },
  testTimeoutMs,
);

it(
  "makes no tool call if the process was stopped for longer than its lease before it read that the intent was written",
  async () => {
    await firstExecutes();
    const plan = planned({ steps: ["unsafe"] });
    const gate = world.holdModel(plan.nonce);
    await caller.send({ plan, source: "fire", keyed: true }, { at: 0 });
    await gate.reached;
    const dead = await ownedByFirst(plan);

    // The append of the intent waits for the run's row until the process is stopped.
    const row = await lock("select from runs where id = $1 for update", [(await runOf(plan)).id]);
    gate.release();
    await row.isAwaited();
    fleet.stop(0);
    await row.unlock();
    await hasNewOwner(plan, dead);
    expect(await ended(plan)).toMatchObject({
      status: "succeeded",
      calls: [{ outcome: "unknown" }],
      fence: 2,
    });

    // The process reads the reply to the append before its renewal shows that it was declared dead.
    const leases = await lock("lock table processes in access exclusive mode");
    fleet.resume(0);
    expect((await fetch(`${first().url}/healthz`)).status).toBe(200);
    await leases.unlock();
    await isReplaced(dead, 2);
    const after = await caller.send(
      { plan: planned({ steps: ["unsafe"] }), source: "invoke", keyed: false },
      { at: 0 },
    );
    expect(after.status).toBe(200);
    expect(world.effects.filter(({ nonce }) => nonce === plan.nonce)).toEqual([]);
  },
  testTimeoutMs,
);

/** Executes a statement that locks something until `unlock` is called. */
async function lock(statement: string, values: readonly string[] = []) {
  const client = await pool.connect();
  onTestFinished(() => client.release(true));
  await client.query("begin");
  await client.query(statement, [...values]);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    /** Resolves when a statement waits for the lock. */
    isAwaited: () =>
      eventually(
        "a statement that waits for the lock",
        async () => {
          const waiting = await pool.query(
            "select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))",
            [rows[0]?.pid],
          );
          return waiting.rows.length > 0 || undefined;
        },
        maxWaitMs,
      ),
    unlock: () => client.query("commit"),
  };
}

it(
  "rejects all writes of a process whose event loop was blocked for longer than its lease",
  async () => {
    await firstExecutes();
    const safe = planned({ steps: ["safe"] });
    const dead = (await ownOnFirst(safe)).owner;
    const closed = await ended(safe);
    expect(closed).toMatchObject({
      status: "succeeded",
      attempt: 2,
      fence: 2,
      steps: 2,
      calls: [{ outcome: "ok" }],
      owner: fleet.servers[1]?.processId,
    });
    await isReplaced(dead, 2);
    const after = await caller.send({ plan: planned(), source: "invoke", keyed: false }, { at: 0 });
    expect(after.status).toBe(200);
    expect(await runOf(safe)).toEqual(closed);
    const effects = world.effects.filter(({ nonce }) => nonce === safe.nonce);
    expect(effects).toHaveLength(2);
    expect(new Set(effects.map(({ key }) => key)).size).toBe(1);
  },
  testTimeoutMs,
);

/**
 * Starts the plan on the first server. The first effect of the plan blocks the event loop of this
 * server for three times the lease.
 */
async function ownOnFirst(plan: Plan): Promise<{ owner: string }> {
  let orders = 0;
  world.order(plan.nonce, () =>
    orders++ === 0 ? { order: "hang", ms: 3 * leaseSeconds * 1_000 } : undefined,
  );
  await caller.send({ plan, source: "fire", keyed: true }, { at: 0 });
  const owner = await ownerOf(pool, plan);
  if (owner === undefined) throw new Error("the run has no owner");
  return { owner };
}
