import type { RunStatus } from "@beckon/contract";
import { expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { eventually } from "../../../test/eventually.ts";
import { appendRow, seedAgent, seedProcess, startOne, succeeded } from "../../../test/tenant.ts";
import { appendToRuns } from "../../../test/write-runs.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { newId } from "../../base/ids.ts";
import { recordDeaths } from "../../processes/process-store.ts";
import { claimAbandoned, countSuspects } from "../claiming/abandoned-statement.ts";
import { claimQueued } from "../claiming/claim-statement.ts";
import { expireQueued } from "../claiming/expire-queued-statement.ts";
import type { RunRef } from "../run.ts";
import type { AppendRow } from "./append-row.ts";
import { appendForDead } from "./append-statement.ts";
import { cancelAllStored, cancelStored } from "./cancel-statement.ts";
import { toEntry } from "./journal-entry.ts";
import { readEvents, readJournal } from "./journal-store.ts";
import { readOutcome } from "./result-store.ts";

const { database } = await testDatabase();
const agent = await seedAgent(database);
const owner = await seedProcess(database);

const startHere = () => startOne(database, agent, { owner });
const append = async (rows: readonly AppendRow[]) =>
  (await appendToRuns(database, rows)).map(({ kind }) => kind);

/** Reads the run's row, its events, and the numbers of its results and artifacts. */
async function stateOf(runId: string) {
  const { rows } = await database.engine.query(
    `select r.status, r.last_seq, r.finished_at is not null as finished,
        (select array_agg(e.type order by e.seq) from events e where e.run_id = r.id) as events,
        (select count(*)::int from run_results e where e.run_id = r.id) as results,
        (select count(*)::int from artifacts a where a.run_id = r.id) as artifacts
      from runs r where r.id = $1`,
    [runId],
  );
  return rows[0];
}

const large = (text = "x".repeat(70_000)) =>
  toEntry({ type: "run.tool_result", data: { call_id: "c", tool: "t", content: text } } as never);

/** Returns an append of two events, one of them stored as an artifact, that ends the run. */
const everything = (run: Parameters<typeof appendRow>[0], rest: Partial<AppendRow> = {}) =>
  appendRow(run, owner, {
    entries: [large(), { id: newId("evt"), type: "run.finished", data: "{}", artifact: undefined }],
    transition: succeeded,
    ...rest,
  });

test("entries, result, artifact and the run's row are written together", async () => {
  const run = await startHere();
  expect(await append([everything(run)])).toEqual(["written"]);
  expect(await stateOf(run.runId)).toEqual({
    status: "succeeded",
    last_seq: 3,
    finished: true,
    events: ["run.started", "run.tool_result", "run.finished"],
    results: 1,
    artifacts: 1,
  });
});

test.each<[string, Partial<AppendRow>]>([
  ["owner", { owner: "prc_other" }],
  ["fence", { fence: 2 }],
  ["earlier fence", { fence: 0 }],
  ["last entry", { lastSeq: 2 }],
  ["earlier last entry", { lastSeq: 0 }],
  ["workspace", { workspaceId: "wsp_other" }],
  ["run", { runId: "run_other" }],
])(
  "an append with another %s writes nothing: no entry, no result, no artifact",
  async (_, wrong) => {
    const run = await startHere();
    const before = await stateOf(run.runId);
    expect(await append([everything(run, wrong)])).toEqual(["fenced"]);
    expect(await stateOf(run.runId)).toEqual(before);
  },
);

test("an append to a run that has ended writes nothing", async () => {
  const run = await startHere();
  await appendToRuns(database, [everything(run)]);
  const ended = await stateOf(run.runId);
  expect(await append([everything(run, { lastSeq: 3 })])).toEqual(["fenced"]);
  expect(await stateOf(run.runId)).toEqual(ended);
});

test("an append by a process that was declared dead writes nothing", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  await recordDeaths(database.engine, [dying], owner);
  const before = await stateOf(run.runId);
  expect(await append([everything(run, { owner: dying })])).toEqual(["fenced"]);
  expect(await stateOf(run.runId)).toEqual(before);
});

test("a repeated append is written once and has the same result", async () => {
  const run = await startHere();
  const step = appendRow(run, owner);
  const [first] = await appendToRuns(database, [step]);
  expect(await appendToRuns(database, [step])).toEqual([first]);
  const end = everything(run, { lastSeq: 2 });
  const [ended] = await appendToRuns(database, [end]);
  expect(await appendToRuns(database, [end])).toEqual([ended]);
  expect(await stateOf(run.runId)).toMatchObject({ last_seq: 4, results: 1, artifacts: 1 });
});

test("a repeated append is rejected once its process was declared dead, and after a failover", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  const intent = appendRow(run, dying, { unlessCancelled: true });
  expect(await append([intent])).toEqual(["written"]);
  await recordDeaths(database.engine, [dying], owner);
  expect(await append([intent])).toEqual(["fenced"]);
  await countSuspects(database);
  const eventIds = Array.from({ length: 50 }, () => newId("evt"));
  const { runs } = await claimAbandoned(database, { owner, eventIds });
  expect(runs.map(({ runId }) => runId)).toContain(run.runId);
  expect(await append([intent])).toEqual(["fenced"]);
  const end = everything(run, { fence: 2, lastSeq: 3 });
  expect(await append([end])).toEqual(["written"]);
  expect(await append([intent])).toEqual(["fenced"]);
});

test("a repeated append is rejected if the run of its dead process was ended without a failover", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  const intent = appendRow(run, dying, { unlessCancelled: true });
  expect(await append([intent])).toEqual(["written"]);
  await recordDeaths(database.engine, [dying], owner);
  const end = everything(run, { owner: dying, lastSeq: 2 });
  expect(await appendForDead(database, [end])).toEqual([0]);
  expect(await append([intent])).toEqual(["fenced"]);
});

test("the repeated end of a run has the same result although its process was declared dead since", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  const end = everything(run, { owner: dying });
  expect(await append([end])).toEqual(["written"]);
  await recordDeaths(database.engine, [dying], owner);
  expect(await append([end])).toEqual(["written"]);
});

test("the repeated release of a run has the same result although another process has claimed it since", async () => {
  const dying = await seedProcess(database);
  const run = await startOne(database, agent, { owner: dying });
  const entries = [toEntry({ type: "run.queued", data: {} })];
  const release = appendRow(run, dying, { entries, transition: "queued" });
  expect(await append([release])).toEqual(["written"]);
  await recordDeaths(database.engine, [dying], owner);
  const eventIds = Array.from({ length: 50 }, () => newId("evt"));
  const { runs } = await claimQueued(database, { owner, eventIds });
  expect(runs.map(({ runId }) => runId)).toContain(run.runId);
  expect(await append([release])).toEqual(["written"]);
});

test("another writer's entry with the same seq is not a repeated append", async () => {
  const run = await startHere();
  await appendToRuns(database, [appendRow(run, owner)]);
  expect(await append([appendRow(run, owner)])).toEqual(["fenced"]);
});

test("once cancellation is requested, intents are rejected, other entries not", async () => {
  const run = await startHere();
  await database.engine.query("update runs set cancel_requested_at = now() where id = $1", [
    run.runId,
  ]);
  const before = await stateOf(run.runId);
  expect(await append([appendRow(run, owner, { unlessCancelled: true })])).toEqual(["cancelled"]);
  expect(await stateOf(run.runId)).toEqual(before);
  expect(await append([appendRow(run, owner)])).toEqual(["written"]);
});

test("repeating an intent that was written before the cancellation gives `written`", async () => {
  const run = await startHere();
  const intent = appendRow(run, owner, { unlessCancelled: true });
  await appendToRuns(database, [intent]);
  await database.engine.query("update runs set cancel_requested_at = now() where id = $1", [
    run.runId,
  ]);
  expect(await append([intent])).toEqual(["written"]);
});

test("each row of a batch has its own result, in order", async () => {
  const runs = await Promise.all(Array.from({ length: 30 }, startHere));
  await database.engine.query("update runs set cancel_requested_at = now() where id = $1", [
    runs[20]?.runId,
  ]);
  const rows = runs.map((run, index) => {
    if (index === 10) return everything(run, { fence: 9 });
    return everything(run, { unlessCancelled: index === 20 });
  });
  expect(await append(rows)).toEqual(
    runs.map((_, index) => (index === 10 ? "fenced" : index === 20 ? "cancelled" : "written")),
  );
  for (const [index, run] of runs.entries()) {
    expect(await stateOf(run.runId)).toMatchObject(
      index % 10 === 0 && index > 0
        ? { results: 0, artifacts: 0, last_seq: 1 }
        : { results: 1, last_seq: 3 },
    );
  }
});

test("data above 64 KiB becomes an artifact to which the event refers", async () => {
  const run = await startHere();
  const text = `${"täxt ".repeat(20_000)}the end`;
  const entry = large(text);
  await appendToRuns(database, [appendRow(run, owner, { entries: [entry] })]);
  const [, whole] = await readJournal(database, run);
  expect(whole).toMatchObject({ seq: 2, type: "run.tool_result", data: { content: text } });
  const [, shown] = await readEvents(database, run, 0, 10);
  expect(shown?.data).toEqual({
    artifact_id: entry.artifact?.id,
    bytes: Buffer.byteLength(entry.artifact?.content ?? ""),
  });
  const { rows } = await database.engine.query(
    "select max(octet_length(data::text)) as largest from events where run_id = $1",
    [run.runId],
  );
  expect(rows[0].largest).toBeLessThan(200);
});

test("data of exactly 64 KiB, in bytes and not in characters, stays in the journal", async () => {
  const size = (text: string) =>
    Buffer.byteLength(JSON.stringify({ call_id: "c", tool: "t", content: text }));
  const fill = 64 * 1024 - size("");
  expect(large("x".repeat(fill)).artifact).toBeUndefined();
  expect(large("x".repeat(fill + 1)).artifact).toBeDefined();
  expect(large("ä".repeat(Math.floor(fill / 2))).artifact).toBeUndefined();
  expect(large("ä".repeat(Math.floor(fill / 2) + 1)).artifact).toBeDefined();
});

/** Returns a lost step and a step, with their calls. A `text` above 64 KiB makes them artifacts. */
function twoCalls(text: string) {
  const step = {
    step: 1,
    model: "demo/echo",
    parts: [{ type: "text" as const, text }],
    finish_reason: "stop" as const,
    usage: { input_tokens: 70, output_tokens: 20, cached_input_tokens: 30, reasoning_tokens: 5 },
    cost_micros: 40,
    duration_ms: 1,
    retries: 0,
  };
  const entries = [
    toEntry({ type: "run.step_lost", data: { ...step, reason: "process_lost" } }),
    toEntry({ type: "run.step", data: step }),
  ];
  const calls = (["lost", "answered"] as const).map((outcome, entry) => ({
    entry,
    call: {
      kind: "model" as const,
      step: 1,
      outcome,
      modelName: step.model,
      usage: step.usage,
      price: { micros: 40, standardMicros: 40, origin: "library" as const },
    },
  }));
  return { entries, calls };
}

/** Starts a run, appends two calls, and releases the run. `data` is that of the release. */
async function releaseAfterStep(text: string, data: { calls_reported?: true } = {}) {
  const run = await startHere();
  const released = toEntry({ type: "run.queued", data });
  await append([appendRow(run, owner, twoCalls(text))]);
  await append([appendRow(run, owner, { lastSeq: 3, entries: [released], transition: "queued" })]);
  return run;
}

test.each([
  ["short", "cancelled"],
  ["x".repeat(70_000), "cancelled"],
  ["short", "failed"],
] as const)(
  "a released run that ends in the queue shows what it had used (%#)",
  async (text, status) => {
    const run = await releaseAfterStep(text);
    if (status === "cancelled")
      await cancelStored(database, run, { eventId: newId("evt"), message: "Cancelled." });
    else {
      await database.engine.query(
        "update runs set created_at = now() - interval '3 days', released_at = now() - interval '2 days' where id = $1",
        [run.runId],
      );
      await expireQueued(database);
    }
    const tokens = { input_tokens: 140, output_tokens: 40, cached_input_tokens: 60 };
    const usage = { ...tokens, reasoning_tokens: 10, estimated: true };
    const spent = { usage, cost_micros: 80 };
    expect(await readOutcome(database, run)).toMatchObject({ status, ...spent });
    expect((await readEvents(database, run, 4, 2)).map(({ data }) => data)).toEqual([
      { error: expect.anything(), ...spent },
    ]);
  },
);

test("the usage of a released run that is cancelled is no estimate if all its calls are reported", async () => {
  const run = await releaseAfterStep("short", { calls_reported: true });
  await cancelStored(database, run, { eventId: newId("evt"), message: "Cancelled." });
  const usage = {
    input_tokens: 140,
    output_tokens: 40,
    cached_input_tokens: 60,
    reasoning_tokens: 10,
  };
  expect((await readOutcome(database, run))?.usage).toEqual(usage);
  const [end] = await readEvents(database, run, 4, 2);
  expect(end?.data).toMatchObject({ usage });
  expect(end?.data).not.toHaveProperty("usage.estimated");
});

const openConnection = () => database.engine.connect();

/** Returns a database whose statements are sent by this connection. */
function inTransaction(connection: Awaited<ReturnType<typeof openConnection>>): typeof database {
  // A connection returns no promise for an instance of `Query`, which a pool does.
  const query = ({ text, values }: { text: string; values: unknown[] }) =>
    connection.query(text, values);
  return { ...database, engine: { query } } as unknown as typeof database;
}

type CancelResults = Promise<readonly (readonly [runId: string, result: string])[]>;

async function cancelOne(run: RunRef): CancelResults {
  const result = await cancelStored(database, run, {
    eventId: newId("evt"),
    message: "Cancelled.",
  });
  return [[run.runId, result]];
}

async function cancelAll(
  runs: readonly RunRef[],
  states: readonly RunStatus[] = ["waiting", "queued", "running"],
): CancelResults {
  const { workspaceId } = agent;
  const runIds = runs.map(({ runId }) => runId);
  const changed = await inWorkspace(database.tenant, workspaceId, (tx) =>
    cancelAllStored(tx, { runIds, workspaceId, states, message: "Cancelled." }),
  );
  return changed.map(({ runId, result }) => [runId, result]);
}

const waitingCancellation = () =>
  eventually("the cancellation that waits for a lock", async () => {
    const { rows } = await database.engine.query(
      `select from pg_stat_activity where wait_event_type = 'Lock'
        and query like '%with found as%' and datname = current_database()`,
    );
    return rows[0];
  });

test.each([
  ["of one run", 0],
  ["of several runs", 3],
])(
  "a cancellation %s that waits for a release shows all that the run had used",
  async (_, others) => {
    const [run, ...queued] = await Promise.all([
      startHere(),
      ...Array.from({ length: others }, () => startOne(database, agent)),
    ]);
    const runs = [run, ...queued];
    const released = toEntry({ type: "run.queued", data: {} });
    const { entries, calls } = twoCalls("short");
    const release = { entries: [...entries, released], calls, transition: "queued" } as const;
    const client = await openConnection();
    try {
      await client.query("begin");
      await appendToRuns(inTransaction(client), [appendRow(run, owner, release)]);
      const answers = others === 0 ? cancelOne(run) : cancelAll(runs);
      await waitingCancellation();
      await client.query("commit");
      expect(new Map(await answers)).toEqual(
        new Map(runs.map(({ runId }) => [runId, "cancelled"])),
      );
    } finally {
      client.release();
    }
    expect(await readOutcome(database, run)).toMatchObject({
      status: "cancelled",
      usage: { input_tokens: 140, output_tokens: 40 },
      cost_micros: 80,
    });
    for (const { runId } of runs)
      expect(await stateOf(runId)).toMatchObject({ status: "cancelled", results: 1 });
  },
);

test.each<[RunStatus[], string[]]>([
  [["queued"], []],
  [["queued", "running"], ["requested"]],
])(
  "a cancellation of runs that are %j, which waits for a claim of one, checks what the run is then",
  async (states, expected) => {
    const run = await startOne(database, agent);
    const client = await openConnection();
    try {
      await client.query("begin");
      const eventIds = Array.from({ length: 50 }, () => newId("evt"));
      const { runs } = await claimQueued(inTransaction(client), { owner, eventIds });
      expect(runs.map(({ runId }) => runId)).toContain(run.runId);
      const results = cancelAll([run], states);
      await waitingCancellation();
      await client.query("commit");
      expect((await results).map(([, result]) => result)).toEqual(expected);
    } finally {
      client.release();
    }
    const { rows } = await database.engine.query(
      "select status, cancel_requested_at is not null as is_cancelled from runs where id = $1",
      [run.runId],
    );
    expect(rows).toEqual([{ status: "running", is_cancelled: expected.length > 0 }]);
  },
);

test("a run that is released a day after its start does not expire before it can resume", async () => {
  const run = await startHere();
  await database.engine.query(
    "update runs set created_at = now() - interval '25 hours' where id = $1",
    [run.runId],
  );
  const released = toEntry({ type: "run.queued", data: {} });
  await append([appendRow(run, owner, { entries: [released], transition: "queued" })]);
  expect(await expireQueued(database)).toEqual({ queued: 0, held: 0 });
  expect(await stateOf(run.runId)).toMatchObject({ status: "queued" });
});

test("a released run is queued, and its former owner writes nothing more", async () => {
  const run = await startHere();
  const release = appendRow(run, owner, {
    transition: "queued",
    entries: [{ id: newId("evt"), type: "run.queued", data: "{}", artifact: undefined }],
  });
  expect(await append([release])).toEqual(["written"]);
  expect(await stateOf(run.runId)).toMatchObject({
    status: "queued",
    finished: false,
    results: 0,
    events: ["run.started", "run.queued"],
  });
  expect(await append([release])).toEqual(["written"]);
  expect(await append([appendRow(run, owner, { lastSeq: 2 })])).toEqual(["fenced"]);
});
