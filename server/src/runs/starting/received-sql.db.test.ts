import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import {
  type SeededAgent,
  type SeededTrigger,
  seedAgent,
  seedProcess,
  seedTrigger,
  startedOf,
  startOne,
  startRow,
} from "../../../test/tenant.ts";
import { startRuns } from "../../../test/write-runs.ts";
import { failureKind } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { claimQueued } from "../claiming/claim-statement.ts";
import { cancelStored } from "../journal/cancel-statement.ts";
import { type ReceivedStart, runDetails, type StartRow } from "./start-row.ts";

const { database } = await testDatabase();

const received = (change: Partial<ReceivedStart> = {}): ReceivedStart => ({
  requestId: newId("req"),
  eventId: null,
  eventIdDays: 7,
  eventType: "push",
  holds: false,
  swallows: false,
  isFiltered: false,
  replayOf: null,
  address: "192.0.2.1",
  contentEncoding: null,
  query: "a=1",
  headers: '{"x-event":"push"}',
  body: Buffer.from("{}"),
  ...change,
});

/** Returns the row of a request to a trigger with the settings `receiving`. */
function requestTo(
  trigger: SeededTrigger,
  agent: SeededAgent,
  change: Partial<ReceivedStart> = {},
  rest: Partial<StartRow> = {},
): StartRow {
  return startRow(agent, {
    source: "trigger",
    agentId: null,
    caller: { kind: "credential", hash: trigger.hash },
    received: received(change),
    ...rest,
  });
}

async function seeded() {
  const agent = await seedAgent(database);
  return { agent, trigger: await seedTrigger(database, agent) };
}

const kinds = async (rows: readonly StartRow[], options?: Parameters<typeof startRuns>[2]) =>
  (await startRuns(database, rows, options)).map(({ kind }) => kind);

async function count(table: string, trigger: SeededTrigger): Promise<number> {
  const where =
    table === "runs"
      ? "runs r join run_inputs i on i.run_id = r.id where i.trigger_id = $1"
      : `${table} where trigger_id = $1`;
  const { rows } = await database.engine.query<{ count: number }>(
    `select count(*)::int as count from ${where}`,
    [trigger.triggerId],
  );
  return rows[0]?.count ?? 0;
}

async function outcomes(trigger: SeededTrigger): Promise<string[]> {
  const { rows } = await database.engine.query<{ outcome: string }>(
    "select outcome from received_requests where trigger_id = $1 order by id",
    [trigger.triggerId],
  );
  return rows.map(({ outcome }) => outcome);
}

const failing = runDetails({
  initial: { code: "mapping_error", message: "The filter of the trigger failed." },
});

test("run, received request and event id are written together", async () => {
  const { agent, trigger } = await seeded();
  const row = requestTo(trigger, agent, { eventId: "evt_1" });
  const run = startedOf((await startRuns(database, [row]))[0]);
  expect(run.triggerId).toBe(trigger.triggerId);
  const { rows } = await database.engine.query(
    `select q.*, e.event_id as bound, e.expires_at > now() + interval '6 days 23 hours' as lasts
      from received_requests q join trigger_event_ids e on e.run_id = q.run_id where q.id = $1`,
    [row.received?.requestId],
  );
  expect(rows).toMatchObject([
    {
      workspace_id: agent.workspaceId,
      agent_id: agent.agentId,
      trigger_id: trigger.triggerId,
      outcome: "started",
      error: null,
      event_id: "evt_1",
      event_type: "push",
      run_id: run.runId,
      replay_of: null,
      agent_version: 1,
      address: "192.0.2.1",
      size: 2,
      query: "a=1",
      headers: { "x-event": "push" },
      body: Buffer.from("{}"),
      bound: "evt_1",
      lasts: true,
    },
  ]);
});

test("sent again after its reply was lost, a request has the same run and is written once", async () => {
  const { agent, trigger } = await seeded();
  const owner = await seedProcess(database);
  const row = requestTo(trigger, agent, { eventId: "e" }, { owner, hasCapacity: true });
  const first = startedOf((await startRuns(database, [row], { resent: false }))[0]);
  expect(startedOf((await startRuns(database, [row], { resent: true }))[0])).toEqual(first);
  expect([await count("runs", trigger), await count("received_requests", trigger)]).toEqual([1, 1]);
});

test("of two equal events in a batch one starts, and the other gets its run when it is sent again", async () => {
  const { agent, trigger } = await seeded();
  const rows = [1, 2].map(() => requestTo(trigger, agent, { eventId: "same" }));
  expect(await kinds(rows)).toEqual(["started", "contended"]);
  const [again] = await startRuns(database, [requestTo(trigger, agent, { eventId: "same" })]);
  expect(again).toMatchObject({ kind: "repeated", runId: rows[0]?.runId });
  expect(await count("received_requests", trigger)).toBe(1);
});

test("equal events that arrive at two processes at once start one run", async () => {
  const { agent, trigger } = await seeded();
  for (let round = 0; round < 20; round++) {
    const batches = [1, 2].map(() =>
      [1, 2, 3].map((event) => requestTo(trigger, agent, { eventId: `${round} ${event}` })),
    );
    const results = await Promise.all(batches.map((rows) => kinds(rows)));
    expect(results.flat().filter((kind) => kind === "started")).toHaveLength(3);
  }
  expect(await count("runs", trigger)).toBe(60);
});

test("the same id of another trigger is another event", async () => {
  const { agent, trigger } = await seeded();
  const other = await seedTrigger(database, agent);
  const event = { eventId: "same" };
  expect(await kinds([requestTo(trigger, agent, event), requestTo(other, agent, event)])).toEqual([
    "started",
    "started",
  ]);
});

test("an event's run is known after the run was deleted", async () => {
  const { agent, trigger } = await seeded();
  const run = startedOf(
    (await startRuns(database, [requestTo(trigger, agent, { eventId: "e" })]))[0],
  );
  for (const table of ["runs", "run_inputs", "events"])
    await database.engine.query(
      `delete from ${table} where ${table === "runs" ? "id" : "run_id"} = $1`,
      [run.runId],
    );
  const [again] = await startRuns(database, [requestTo(trigger, agent, { eventId: "e" })]);
  expect(again).toMatchObject({ kind: "repeated", runId: run.runId });
});

test("if another request has the Idempotency-Key, the event id is not bound without a run", async () => {
  const { agent, trigger } = await seeded();
  const hash = Buffer.alloc(32, 1);
  for (let round = 0; round < 20; round++) {
    const key = { key: `key ${round}`, bodyHash: hash };
    // Three events with the same Idempotency-Key, at the same time: two in one batch, and the third
    // in another batch.
    const rows = [1, 2, 3].map((event) =>
      requestTo(trigger, agent, { eventId: `${round} ${event}` }, key),
    );
    const [one, two, three] = rows;
    if (one === undefined || two === undefined || three === undefined) throw new Error("no rows");
    const results = await Promise.all([
      retried(() => startRuns(database, [one, two])),
      retried(() => startRuns(database, [three])),
    ]);
    expect(results.flat().filter(({ kind }) => kind === "started")).toHaveLength(1);
  }
  const { rows } = await database.engine.query(
    `select e.event_id from trigger_event_ids e
      where e.trigger_id = $1 and not exists (select from runs r where r.id = e.run_id)`,
    [trigger.triggerId],
  );
  expect(rows).toEqual([]);
  expect(await count("runs", trigger)).toBe(20);
});

/** Repeats a statement that failed because of a concurrent one, as the batcher does. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    expect(failureKind(thrown)).toBe("again");
    return work();
  }
}

test("a run that was created failed binds no event id", async () => {
  const { agent, trigger } = await seeded();
  const event = { eventId: "e" };
  const run = startedOf(
    (await startRuns(database, [requestTo(trigger, agent, event, { details: failing })]))[0],
  );
  expect(run).toMatchObject({ status: "failed", triggerId: trigger.triggerId, promptPrefix: "" });
  expect(await kinds([requestTo(trigger, agent, event)])).toEqual(["started"]);
  expect(await outcomes(trigger)).toEqual(["mapping_error", "started"]);
});

test("a request that the filter rejects is stored without a run, once", async () => {
  const { agent, trigger } = await seeded();
  const row = requestTo(trigger, agent, { isFiltered: true, eventId: "e" }, { payload: "" });
  expect(await kinds([row], { resent: false })).toEqual(["filtered"]);
  for (const resent of [false, true]) expect(await kinds([row], { resent })).toEqual(["filtered"]);
  expect([await count("runs", trigger), await outcomes(trigger)]).toEqual([0, ["filtered"]]);
  expect(await kinds([requestTo(trigger, agent, { eventId: "e" })])).toEqual(["started"]);
});

test("a request that was checked with other settings is `reconfigured`, before anything else", async () => {
  const { agent, trigger } = await seeded();
  const event = { eventId: "e" };
  await startRuns(database, [requestTo(trigger, agent, event)]);
  await database.engine.query("update agents set paused_at = now() where id = $1", [agent.agentId]);
  await database.engine.query("update triggers set receiving_version = 3 where id = $1", [
    trigger.triggerId,
  ]);
  expect(
    await kinds([
      requestTo(trigger, agent, event),
      requestTo(trigger, agent, event, { receivingVersion: 2 }),
      requestTo(trigger, agent, event, { receivingVersion: 3 }),
      requestTo(trigger, agent, {}, { receivingVersion: 3 }),
      startRow(agent, {
        source: "trigger",
        agentId: null,
        caller: { kind: "credential", hash: trigger.hash },
      }),
    ]),
  ).toEqual(["reconfigured", "reconfigured", "repeated", "agent_paused", "reconfigured"]);
});

test("while the trigger listens for a sample, no request starts a run, not even a known event", async () => {
  const { agent, trigger } = await seeded();
  await startRuns(database, [requestTo(trigger, agent, { eventId: "e" })]);
  await database.engine.query(
    "update triggers set listening_until = now() + interval '1 minute' where id = $1",
    [trigger.triggerId],
  );
  expect(
    await kinds([
      requestTo(trigger, agent),
      requestTo(trigger, agent, { eventId: "e" }),
      requestTo(trigger, agent, {}, { body: "bad" }),
    ]),
  ).toEqual(["listening", "listening", "body"]);
  await database.engine.query("update triggers set listening_until = now() where id = $1", [
    trigger.triggerId,
  ]);
  expect(await kinds([requestTo(trigger, agent)])).toEqual(["started"]);
});

test("a pause by a limit takes precedence over the same checks, whether limits are checked or not", async () => {
  const { agent, trigger } = await seeded();
  const disabled = await seedTrigger(database, agent, { enabled: false });
  await database.engine.query(
    `insert into budgets (workspace_id, scope_id, scope_kind, metric, allowed, spent, pauses_agent,
        starts, ends)
      values ($1, $2, 'agent', 'cost', 1, 1, true, now(), now() + interval '1 hour')`,
    [agent.workspaceId, agent.agentId],
  );
  for (const [checksLimits, kind] of [
    [false, "limited"],
    [true, "limit_paused"],
  ] as const) {
    const rows = [
      requestTo(disabled, agent, {}, { checksLimits }),
      requestTo(trigger, agent, {}, { checksLimits, body: "bad" }),
      requestTo(trigger, agent, { isFiltered: true }, { checksLimits }),
      requestTo(trigger, agent, {}, { checksLimits, payload: "" }),
    ];
    expect(await kinds(rows)).toEqual(rows.map(() => kind));
  }
});

test("the order of checks: event id, pause, trigger, body, filter, empty message", async () => {
  const { agent, trigger } = await seeded();
  await startRuns(database, [requestTo(trigger, agent, { eventId: "known" })]);
  const requests = () => [
    requestTo(trigger, agent, { eventId: "known", isFiltered: true }, { body: "bad" }),
    requestTo(trigger, agent, { isFiltered: true }, { body: "bad" }),
    requestTo(trigger, agent, { isFiltered: true }, { payload: "" }),
    requestTo(trigger, agent, {}, { payload: "" }),
    requestTo(trigger, agent, { swallows: true }),
    requestTo(trigger, agent, {}, { payload: "", details: failing }),
  ];
  const set = (table: string, values: string, id: string) =>
    database.engine.query(`update ${table} set ${values} where id = $1`, [id]);
  expect(await kinds(requests())).toEqual([
    "repeated",
    "body",
    "filtered",
    "empty",
    "started",
    "started",
  ]);
  await set("triggers", "enabled = false", trigger.triggerId);
  const disabled = "trigger_disabled";
  expect(await kinds(requests())).toEqual([
    "repeated",
    disabled,
    disabled,
    disabled,
    "swallowed",
    disabled,
  ]);
  await set("agents", "paused_at = now()", agent.agentId);
  const paused = "agent_paused";
  expect(await kinds(requests())).toEqual([
    "repeated",
    paused,
    paused,
    paused,
    "swallowed",
    paused,
  ]);
});

test("files become artifacts of the run", async () => {
  const { agent, trigger } = await seeded();
  const file = { id: newId("art"), mediaType: "image/png", content: Buffer.from([0, 1, 2]) };
  const row = requestTo(trigger, agent, {}, { files: [file] });
  await startRuns(database, [row, requestTo(trigger, agent)]);
  await startRuns(database, [row]);
  const { rows } = await database.engine.query(
    "select id, run_id, media_type, content from artifacts where workspace_id = $1",
    [agent.workspaceId],
  );
  expect(rows).toEqual([
    { id: file.id, run_id: row.runId, media_type: "image/png", content: file.content },
  ]);
});

/** Pauses the agent, and returns a request whose run is then held. */
async function heldRow(agent: SeededAgent, trigger: SeededTrigger): Promise<StartRow> {
  await database.engine.query("update agents set paused_at = now() where id = $1", [agent.agentId]);
  const owner = await seedProcess(database);
  return requestTo(trigger, agent, { holds: true }, { owner, hasCapacity: true });
}

/** Starts a run that is held, because its agent is paused. */
async function startHeld(agent: SeededAgent, trigger: SeededTrigger) {
  return startedOf((await startRuns(database, [await heldRow(agent, trigger)]))[0]);
}

async function runOf(runId: string) {
  const { rows } = await database.engine.query(
    `select r.status, r.owner, r.started_at,
        (select array_agg(e.type order by e.seq) from events e where e.run_id = r.id) as events
      from runs r where r.id = $1`,
    [runId],
  );
  return rows[0];
}

test("a paused agent with a full queue can get a held run, which is not claimed", async () => {
  const agent = await seedAgent(database, { limits: { max_queued_runs: 1 } });
  const trigger = await seedTrigger(database, agent);
  await startOne(database, agent);
  const run = await startHeld(agent, trigger);
  expect(run.status).toBe("waiting");
  expect(await runOf(run.runId)).toEqual({
    status: "waiting",
    owner: null,
    started_at: null,
    events: ["run.waiting"],
  });
  const claim = {
    owner: await seedProcess(database),
    eventIds: Array.from({ length: 100 }, () => newId("evt")),
  };
  expect((await claimQueued(database, claim)).runs.map(({ runId }) => runId)).not.toContain(
    run.runId,
  );
});

test("repeating a row whose run is held gives the same run", async () => {
  const { agent, trigger } = await seeded();
  const row = await heldRow(agent, trigger);
  const run = startedOf((await startRuns(database, [row]))[0]);
  expect(run.status).toBe("waiting");
  expect(startedOf((await startRuns(database, [row]))[0])).toEqual(run);
});

test("a held run is cancelled like a queued one", async () => {
  const { agent, trigger } = await seeded();
  const run = await startHeld(agent, trigger);
  expect(await cancelStored(database, run, { eventId: newId("evt"), message: "Not needed." })).toBe(
    "cancelled",
  );
  expect(await runOf(run.runId)).toMatchObject({
    status: "cancelled",
    events: ["run.waiting", "run.cancelled"],
  });
});

test("a batch holds up to 1,000 runs of a trigger, and rejects the rest", async () => {
  const { agent, trigger } = await seeded();
  const other = await seedTrigger(database, agent);
  await database.engine.query("update agents set paused_at = now() where id = $1", [agent.agentId]);
  const held = (of: SeededTrigger) => requestTo(of, agent, { holds: true });
  const results = await startRuns(database, [
    ...Array.from({ length: 1_002 }, () => held(trigger)),
    held(other),
  ]);
  expect(results.filter(({ kind }) => kind === "held_full")).toHaveLength(2);
  expect(startedOf(results.at(-1)).status).toBe("waiting");
  expect(await kinds([held(trigger), requestTo(trigger, agent)])).toEqual([
    "held_full",
    "agent_paused",
  ]);
});

test("equal events count once against the queue limit, and against the limit of held runs", async () => {
  const agent = await seedAgent(database, { limits: { max_queued_runs: 2 } });
  const trigger = await seedTrigger(database, agent);
  const requests = (change: Partial<ReceivedStart>) =>
    ["a", "a", "b", "a", "c", "c"].map((eventId) =>
      requestTo(trigger, agent, { ...change, eventId }),
    );
  const results = ["started", "contended", "started", "contended"];
  expect(await kinds(requests({}))).toEqual([...results, "agent_busy", "agent_busy"]);

  const { agent: paused, trigger: holding } = await seeded();
  await database.engine.query("update agents set paused_at = now() where id = $1", [
    paused.agentId,
  ]);
  const held = (eventId: string) => requestTo(holding, paused, { holds: true, eventId });
  const events = Array.from({ length: 1_000 }, (_, index) => String(index));
  const all = await kinds(["0", ...events, "999", "1000", "1000"].map(held));
  expect(all.slice(0, 2)).toEqual(["started", "contended"]);
  expect(all.slice(2, 1_001).every((kind) => kind === "started")).toBe(true);
  expect(all.slice(1_001)).toEqual(["contended", "held_full", "held_full"]);
});
