import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { seedAgent, seedProcess, startRow } from "../../../test/tenant.ts";
import { createMutex, type ProcessMessage } from "../../base/database/index.ts";
import { FixedWindowCounter } from "../../base/fixed-window.ts";
import { createLog } from "../../base/log.ts";
import { KnownSubscriptions } from "../../events/index.ts";
import { Reservations } from "../../reservations/index.ts";
import { Capacity } from "../executing/capacity.ts";
import { createAppends } from "../journal/index.ts";
import { reachedStatement } from "../reached-statement.ts";
import { createLiveRuns } from "../subscribing/index.ts";
import { createKnownCallers } from "./known-callers.ts";
import { createQueueLimits } from "./queue-limits.ts";
import type { StartPorts } from "./start-ports.ts";
import { createStarts } from "./starts.ts";
import { beginRun, submitStart } from "./submit-start.ts";
import { createUnconfirmedStarts } from "./unconfirmed-starts.ts";

const { database } = await testDatabase();
const { engine } = database;

/** Key of the advisory lock that every insert of a run waits for. */
const lockKey = 42;
await engine.query(`
  create function wait_for_lock() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${lockKey}); return new; end $$;
  create trigger wait_for_lock before insert on runs for each row execute function wait_for_lock()`);

/** Returns the services of the process `owner`, and the messages that it sends to others. */
function createPorts(owner: string): { ports: StartPorts; sent: ProcessMessage[] } {
  const sent: ProcessMessage[] = [];
  const [mutex, subscriptions] = [createMutex(), new KnownSubscriptions()];
  const heap = { isFull: false, onChange() {}, stop() {} };
  const reservations = new Reservations(database, mutex, reachedStatement);
  const capacity = new Capacity({ max: 1, executes: true, heap });
  capacity.foundQueue({ empty: true });
  capacity.foundAbandoned({ waiting: false, deaths: 0 });
  const ports: StartPorts = {
    database,
    log: createLog("silent"),
    reports: { ended() {}, rejected() {} },
    process: { id: owner },
    starts: createStarts(database, {
      mutex,
      budgetMutex: createMutex(),
      subscriptions,
      onWritten() {},
      queuedIds: () => [],
    }),
    appends: createAppends(database, {
      mutex,
      budgetMutex: createMutex(),
      reservations,
      subscriptions,
      log: createLog("silent"),
      onWritten() {},
      onReturned() {},
    }),
    startsInProgress: { count: 0 },
    unconfirmedStarts: createUnconfirmedStarts(),
    live: createLiveRuns(),
    queueLimits: createQueueLimits(database),
    capacity,
    memory: { heap },
    processMessages: { send: (message) => sent.push(message) },
    reservations,
    knownCallers: createKnownCallers(),
    limitRejections: new FixedWindowCounter({ windowMs: 60_000, maxKeys: 10 }),
    firstCalls: { predict: () => undefined },
    worker: { claim() {}, nextClaim: async () => {}, noteHeld() {} },
    execute: () => expect.fail("the run is not executed"),
  };
  return { ports, sent };
}

test("the run of a start that got 503 is stopped, although its process was declared dead", async () => {
  const agent = await seedAgent(database);
  const owner = await seedProcess(database);
  const { ports: others, sent } = createPorts(owner);
  const claim = Promise.withResolvers<void>();
  const ports = { ...others, worker: { ...others.worker, nextClaim: () => claim.promise } };
  const blocker = await engine.connect();
  await blocker.query("select pg_advisory_lock($1)", [lockKey]);
  await expect(submitStart(ports, startRow(agent))).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("the run may have been started; Beckon cancels it if it can"),
    retryAfter: undefined,
  });
  // The start statement has already taken its snapshot, in which the process is not declared dead.
  await engine.query("update processes set died_at = now() where id = $1", [owner]);
  await blocker.query("select pg_advisory_unlock($1)", [lockKey]);
  blocker.release();
  await eventually("the request to stop the run", () => sent.length > 0 || undefined);
  // The start is unconfirmed until a claim in progress has ended. A stopping process waits for it.
  expect([ports.starts.pending, ports.unconfirmedStarts.size]).toEqual([0, 1]);
  claim.resolve();
  await eventually("the end of the start", () => ports.capacity.free === 1 || undefined);
  expect(ports.unconfirmedStarts.size).toBe(0);

  // The cancellation is requested, so the process that takes over the run only ends it.
  const { rows } = await engine.query(
    `select id, status, owner, cancel_requested_at is not null as is_cancelled from runs
      where agent_id = $1`,
    [agent.agentId],
  );
  expect(rows).toEqual([{ id: rows[0]?.id, status: "running", owner, is_cancelled: true }]);
  expect(sent).toEqual([{ kind: "cancel", runId: rows[0]?.id }]);
});

test("capacity is kept only for a run that this process executes", async () => {
  const agent = await seedAgent(database);
  const queueing = await seedAgent(database, { limits: { max_concurrent_runs: 1 } });
  const { ports } = createPorts(await seedProcess(database));
  const { capacity } = ports;
  const rejected = startRow(agent, { caller: { kind: "credential", hash: Buffer.alloc(32, 9) } });
  expect(await submitStart(ports, rejected)).toEqual({ kind: "unauthorized" });
  expect(capacity.free).toBe(1);
  const invalid = startRow(agent, { payload: "\u0000" });
  await expect(submitStart(ports, invalid)).rejects.toThrow();
  expect(capacity.free).toBe(1);
  const queued = await submitStart(ports, startRow(queueing));
  expect(queued).toMatchObject({ kind: "started", run: { status: "queued" } });
  expect(capacity.free).toBe(1);
  const running = await submitStart(ports, startRow(agent));
  expect(running).toMatchObject({ kind: "started", run: { status: "running" } });
  expect(capacity.free).toBe(0);
});

test("the run of a start that got 503 is executed if its caller can repeat the request", async () => {
  const agent = await seedAgent(database);
  const { ports } = createPorts(await seedProcess(database));
  const executed: string[] = [];
  const execute: StartPorts["execute"] = async ({ runId }) => void executed.push(runId);
  const blocker = await engine.connect();
  await blocker.query("select pg_advisory_lock($1)", [lockKey]);
  const request = startRow(agent, { key: "order-4711", bodyHash: Buffer.alloc(32, 1) });
  await expect(submitStart({ ...ports, execute }, request)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("Send the request again with the same key"),
    retryAfter: 2,
  });
  await blocker.query("select pg_advisory_unlock($1)", [lockKey]);
  blocker.release();
  await eventually("the execution of the run", () => executed.length > 0 || undefined);
  expect(executed).toHaveLength(1);
  expect(ports.capacity.free).toBe(0);
  expect(ports.unconfirmedStarts.size).toBe(0);
});

test("the 503 of a start that cannot write a run says that nothing was started", async () => {
  const agent = await seedAgent(database);
  const { ports } = createPorts(await seedProcess(database));
  const blocker = await engine.connect();
  await blocker.query("begin");
  await blocker.query("lock table runs in access exclusive mode");
  const outcomes = await Promise.allSettled(
    [
      startRow(agent, { body: "unread" }),
      startRow(agent, { body: "bad", key: "order-4711" }),
      startRow(agent, { body: "unhashable", key: "" }),
    ].map((row) => submitStart(ports, row)),
  );
  await blocker.query("rollback");
  blocker.release();
  await eventually("the end of the starts", () => ports.starts.pending === 0 || undefined);

  for (const outcome of outcomes)
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: {
        code: "unavailable",
        message: expect.stringMatching(/ Nothing was started; try again in a few seconds\.$/),
        retryAfter: 2,
      },
    });
});

test("a queued run makes a process queue its next runs only if it has no free capacity", async () => {
  const agent = await seedAgent(database, { limits: { max_concurrent_runs: 1 } });
  const owner = await seedProcess(database);
  const { ports } = createPorts(owner);
  const queue = async () => {
    const result = await submitStart(ports, startRow(agent));
    if (result.kind !== "started" || result.run.status !== "queued")
      expect.fail(`the start was ${result.kind}`);
    beginRun(ports, result.run, { owner, payload: "" });
  };
  await queue();
  expect(ports.capacity.tryReserve()).toBe(true);
  await queue();
  ports.capacity.release(1);
  expect(ports.capacity.tryReserve()).toBe(false);
});
