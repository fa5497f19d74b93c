import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import {
  seedAgent,
  seedProcess,
  seedTrigger,
  startedOf,
  startOne,
  startRow,
} from "../../../test/tenant.ts";
import { startRuns } from "../../../test/write-runs.ts";
import { newId } from "../../base/ids.ts";
import { recordDeaths } from "../../processes/process-store.ts";
import { readOutcome } from "../journal/result-store.ts";
import { runDetails, type StartRow } from "./start-row.ts";

const { database } = await testDatabase();
const hash = Buffer.alloc(32, 1);
const otherHash = Buffer.alloc(32, 2);
const by = (secret: Buffer) => ({ kind: "credential" as const, hash: secret });

async function rowsOf(runId: string) {
  const { rows } = await database.engine.query(
    `select r.status, r.owner, r.fence, r.attempt, r.last_seq, r.started_at is not null as began, i.agent_version, i.source, i.payload,
        (select array_agg(e.type order by e.seq) from events e where e.run_id = r.id) as events
      from runs r join run_inputs i on i.run_id = r.id where r.id = $1`,
    [runId],
  );
  return rows;
}

test("a run is created running if the requesting process has capacity", async () => {
  const agent = await seedAgent(database);
  const owner = await seedProcess(database);
  const row = startRow(agent, { owner });
  const run = startedOf((await startRuns(database, [row]))[0]);
  expect(run).toMatchObject({
    runId: row.runId,
    workspaceId: agent.workspaceId,
    agentId: agent.agentId,
    agentVersion: 1,
    status: "running",
  });
  expect(await rowsOf(run.runId)).toEqual([
    {
      status: "running",
      owner,
      fence: 1,
      attempt: 1,
      last_seq: 1,
      began: true,
      agent_version: 1,
      source: "invoke",
      payload: "hello",
      events: ["run.started"],
    },
  ]);
});

test("a run is queued without capacity, with a limit, or for a dead process", async () => {
  const owner = await seedProcess(database);
  const dead = await seedProcess(database);
  await recordDeaths(database.engine, [dead], owner);
  const free = await seedAgent(database);
  const limited = await seedAgent(database, { limits: { max_concurrent_runs: 5 } });
  const rows = [
    startRow(free),
    startRow(limited, { owner }),
    startRow(free, { owner: dead }),
    startRow(free, { owner: "prc_unknown" }),
  ];
  for (const result of await startRuns(database, rows)) {
    const run = startedOf(result);
    expect(run.status).toBe("queued");
    expect(await rowsOf(run.runId)).toMatchObject([
      {
        status: "queued",
        owner: null,
        fence: 0,
        last_seq: 1,
        began: false,
        events: ["run.queued"],
      },
    ]);
  }
});

test("each row of a batch has the result that it would have alone, in order", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const stranger = await seedAgent(database);
  const trigger = await seedTrigger(database, agent, { prompt_prefix: "Look:" });
  const bare = await seedTrigger(database, agent);
  const paused = await seedAgent(database);
  const disabled = await seedTrigger(database, agent, { enabled: false });
  await database.engine.query("update agents set paused_at = now() where id = $1", [
    paused.agentId,
  ]);
  const earlier = await startOne(database, agent, { key: "k", bodyHash: hash });
  const fire = (of: { hash: Buffer }) => ({
    source: "trigger" as const,
    agentId: null,
    caller: by(of.hash),
  });
  const cases = (): [StartRow, string][] => [
    [startRow(agent, { owner }), "started"],
    [startRow(agent, { caller: by(stranger.hash) }), "unauthorized"],
    [startRow(agent, { caller: by(Buffer.alloc(32)) }), "unauthorized"],
    [startRow(agent, { key: "k", bodyHash: hash }), "replay"],
    [startRow(agent, { key: "k", bodyHash: otherHash }), "idempotency_mismatch"],
    [startRow(agent, { key: randomUUID(), bodyHash: hash }), "started"],
    [startRow(paused), "agent_paused"],
    [startRow(agent, { body: "bad" }), "body"],
    [startRow(agent, { body: "unread" }), "body"],
    [startRow(agent, { ...fire(trigger), payload: "" }), "started"],
    [startRow(agent, { ...fire(bare), payload: "" }), "empty"],
    [startRow(agent, { ...fire(bare), key: randomUUID(), bodyHash: hash }), "started"],
    [startRow(agent, fire(disabled)), "trigger_disabled"],
    [startRow(agent, { caller: by(trigger.hash) }), "unauthorized"],
    [startRow(agent, fire(agent)), "unauthorized"],
  ];

  const batch = cases();
  const results = await startRuns(
    database,
    batch.map(([row]) => row),
  );
  expect(results.map(({ kind }) => kind)).toEqual(batch.map(([, kind]) => kind));
  expect(results[3]).toMatchObject({ runId: earlier.runId });

  for (const resent of [false, true]) {
    for (const [row, kind] of cases()) {
      expect(
        await startRuns(database, [row], { resent }),
        `${row.source}, ${row.key}, ${resent}`,
      ).toMatchObject([{ kind }]);
    }
  }
});

test("repeating a row that was written gives `started`, whatever has changed since", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const row = startRow(agent, { owner, key: "k", bodyHash: hash });
  const first = startedOf((await startRuns(database, [row]))[0]);
  await database.engine.query(
    "update agents set paused_at = now(), deleted_at = now() where id = $1",
    [agent.agentId],
  );
  await database.engine.query("delete from tokens where agent_id = $1", [agent.agentId]);
  expect(startedOf((await startRuns(database, [row]))[0])).toEqual(first);
  expect(await rowsOf(row.runId)).toHaveLength(1);
});

test("repeating a row whose run was claimed does not execute it again", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database);
  const row = startRow(agent, { owner });
  await startRuns(database, [row]);
  await database.engine.query("update runs set fence = 2 where id = $1", [row.runId]);
  expect(startedOf((await startRuns(database, [row]))[0]).status).toBe("queued");
});

test("repeating a row whose process was declared dead does not execute its run", async () => {
  const [owner, other] = [await seedProcess(database), await seedProcess(database)];
  const row = startRow(await seedAgent(database), { owner });
  expect(startedOf((await startRuns(database, [row]))[0]).status).toBe("running");
  await recordDeaths(database.engine, [owner], other);
  expect(startedOf((await startRuns(database, [row]))[0]).status).toBe("queued");
});

test("of two rows with one key in a batch one starts, the other is contended", async () => {
  const agent = await seedAgent(database);
  const rows = [0, 1].map(() => startRow(agent, { key: "k", bodyHash: hash }));
  const results = await startRuns(database, rows);
  expect(results.map(({ kind }) => kind)).toEqual(["started", "contended"]);
  const [again] = await startRuns(database, [startRow(agent, { key: "k", bodyHash: hash })]);
  expect(again).toMatchObject({ kind: "replay", runId: rows[0]?.runId });
});

test("keys are scoped to an agent or a trigger", async () => {
  const agent = await seedAgent(database);
  const other = await seedAgent(database, { workspaceId: agent.workspaceId });
  const trigger = await seedTrigger(database, agent);
  const key = { key: "k", bodyHash: hash };
  const results = await startRuns(database, [
    startRow(agent, key),
    startRow(other, key),
    startRow(agent, { ...key, source: "trigger", agentId: null, caller: by(trigger.hash) }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(["started", "started", "started"]);
});

test("the queue limit counts only the rows that would be queued", async () => {
  const owner = await seedProcess(database);
  const agent = await seedAgent(database, { limits: { max_queued_runs: 3 } });
  const earlier = await startOne(database, agent, { key: "k", bodyHash: hash });
  const start = async (rows: ReturnType<typeof startRow>[]) =>
    (await startRuns(database, rows)).map(({ kind }) => kind);

  // One run is queued, so two more fit into the queue of three. Runs that start at once, rejected
  // requests and replays do not count.
  expect(
    await start([
      startRow(agent, { owner }),
      startRow(agent),
      startRow(agent, { body: "bad" }),
      startRow(agent, { key: "k", bodyHash: hash }),
      startRow(agent, { owner }),
      startRow(agent),
      startRow(agent),
      startRow(agent, { owner }),
      startRow(agent),
    ]),
  ).toEqual([
    "started",
    "started",
    "body",
    "replay",
    "started",
    "started",
    "agent_busy",
    "started",
    "agent_busy",
  ]);
  expect(await start([startRow(agent), startRow(agent, { owner })])).toEqual([
    "agent_busy",
    "started",
  ]);

  await database.engine.query(
    "update runs set status = 'cancelled', finished_at = now() where id = $1",
    [earlier.runId],
  );
  expect(await start([startRow(agent), startRow(agent)])).toEqual(["started", "agent_busy"]);
});

test("rows with one key count once against the queue limit, and are admitted or rejected together", async () => {
  const agent = await seedAgent(database, { limits: { max_queued_runs: 2 } });
  const keyed = (key: string) => startRow(agent, { key, bodyHash: hash });
  const rows = ["a", "a", "b", "a", "c", "b", "c"].map(keyed);
  expect((await startRuns(database, rows)).map(({ kind }) => kind)).toEqual([
    "started",
    "contended",
    "started",
    "contended",
    "agent_busy",
    "contended",
    "agent_busy",
  ]);
  expect(await startRuns(database, [keyed("a"), keyed("b"), keyed("c")])).toMatchObject([
    { kind: "replay", runId: rows[0]?.runId },
    { kind: "replay", runId: rows[2]?.runId },
    { kind: "agent_busy" },
  ]);
});

test("one agent's full queue does not reject another agent's runs in the same batch", async () => {
  const full = await seedAgent(database, { limits: { max_queued_runs: 1 } });
  await startOne(database, full);
  const other = await seedAgent(database, {
    workspaceId: full.workspaceId,
    limits: { max_queued_runs: 2 },
  });
  const results = await startRuns(database, [
    startRow(full),
    startRow(other),
    startRow(full),
    startRow(other),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual([
    "agent_busy",
    "started",
    "agent_busy",
    "started",
  ]);
});

const details = runDetails({});

test("a run created already failed has an error and binds no Idempotency-Key", async () => {
  const agent = await seedAgent(database);
  const owner = await seedProcess(database);
  const error = { code: "ceiling_reached", message: "The daily ceiling is reached." } as const;
  const failing = startRow(agent, {
    owner,
    key: "k",
    bodyHash: hash,
    details: { ...details, initial: error },
  });
  const run = startedOf((await startRuns(database, [failing]))[0]);
  expect(run.status).toBe("failed");
  expect(startedOf((await startRuns(database, [failing]))[0])).toEqual(run);
  expect(await rowsOf(run.runId)).toMatchObject([
    { status: "failed", owner: null, last_seq: 1, began: false, events: ["run.failed"] },
  ]);
  expect(await readOutcome(database, run)).toEqual({
    status: "failed",
    error,
    usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
    cost_micros: 0,
  });
  const { rows } = await database.engine.query("select data from events where run_id = $1", [
    run.runId,
  ]);
  expect(rows).toMatchObject([{ data: { error, cost_micros: 0 } }]);
  expect(
    startedOf(
      (await startRuns(database, [startRow(agent, { owner, key: "k", bodyHash: hash })]))[0],
    ).status,
  ).toBe("running");
});

test("details set a run's version, prefix, trigger, key scope and audit entry", async () => {
  const agent = await seedAgent(database);
  const trigger = await seedTrigger(database, agent);
  const caller = {
    kind: "authenticated",
    principal: "key:key_1",
    workspaceId: agent.workspaceId,
  } as const;
  const audit = {
    id: newId("aud"),
    address: "192.0.2.1",
    action: "run.retry",
    data: '{"retry_of":"run_1"}',
  };
  const described = {
    ...details,
    version: 1,
    triggerId: trigger.triggerId,
    promptPrefix: "Look:",
    retryOf: "run_1",
  };
  const row = startRow(agent, {
    ...{ caller, source: "trigger", key: "k", bodyHash: hash },
    details: { ...described, keyScope: "key:key_1 POST /x", audit },
  });
  const run = startedOf((await startRuns(database, [row]))[0]);
  expect(run).toMatchObject({
    triggerId: trigger.triggerId,
    promptPrefix: "Look:",
    agentVersion: 1,
  });
  const { rows } = await database.engine.query(
    `select i.source, i.trigger_id, i.prompt_prefix, i.retry_of, i.principal, k.scope, a.actor, a.action, a.data
      from run_inputs i join idempotency k on k.run_id = i.run_id join audit a on a.target = i.run_id where i.run_id = $1`,
    [run.runId],
  );
  expect(rows).toEqual([
    {
      ...{
        source: "trigger",
        trigger_id: trigger.triggerId,
        prompt_prefix: "Look:",
        retry_of: "run_1",
        principal: "key:key_1",
      },
      ...{
        scope: "key:key_1 POST /x",
        actor: "key:key_1",
        action: "run.retry",
        data: { retry_of: "run_1" },
      },
    },
  ]);
});

test("a retry that copies files of a run starts nothing if that run was deleted meanwhile", async () => {
  const agent = await seedAgent(database);
  const caller = {
    kind: "authenticated",
    principal: "key:key_1",
    workspaceId: agent.workspaceId,
  } as const;
  const file = { id: newId("art"), copyOf: newId("art"), bytes: 3 };
  const original = await startOne(database, agent, {
    files: [{ id: file.copyOf, mediaType: "text/plain", content: Buffer.from("abc") }],
  });
  const retry = (files: StartRow["files"]) =>
    startRow(agent, { caller, files, details: { ...details, retryOf: original.runId } });
  const kinds = async (...rows: StartRow[]) =>
    (await startRuns(database, rows)).map(({ kind }) => kind);
  const sent = retry([file]);
  expect(await kinds(sent)).toEqual(["started"]);
  await database.engine.query("delete from runs where id = $1", [original.runId]);
  expect(await kinds(sent, retry([{ ...file, id: newId("art") }]), retry(undefined))).toEqual([
    "started",
    "original_deleted",
    "started",
  ]);
});

test("only a caller with details gets `agent_deleted`, and a replay takes precedence", async () => {
  const agent = await seedAgent(database);
  const caller = {
    kind: "authenticated",
    principal: "key:key_1",
    workspaceId: agent.workspaceId,
  } as const;
  const request = { caller, key: "k", bodyHash: hash };
  const first = await startOne(database, agent, {
    ...request,
    details: { ...details, keyScope: "s" },
  });
  await database.engine.query("update agents set deleted_at = now() where id = $1", [
    agent.agentId,
  ]);
  const results = await startRuns(database, [
    startRow(agent, { ...request, details: { ...details, keyScope: "s" } }),
    startRow(agent, { ...request, key: "other", details: { ...details, keyScope: "s" } }),
    startRow(agent, request),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(["replay", "agent_deleted", "not_found"]);
  expect(results[0]).toMatchObject({ runId: first.runId });
});
