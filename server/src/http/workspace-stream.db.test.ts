import type { WorkspaceEvent } from "@beckon/contract";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { openClient } from "../../test/open-client.ts";
import { openStream, type StreamOptions, type StreamReader } from "../../test/read-stream.ts";
import { insertKey, insertStranger } from "../../test/workspace-key.ts";

const beckon = await startTestBeckon({}, { streamLimits: { checkMs: 50 } });
const agent = await beckon.createAgent();
const sse = { accept: "text/event-stream" };

const stream = async (path: string, options: StreamOptions = {}, url = beckon.url) => {
  const reader = await openStream(`${url}/api/public${path}`, {
    credential: beckon.key,
    ...options,
  });
  onTestFinished(() => reader.close());
  return reader;
};
const opened = async (path = "/events", options: StreamOptions = {}) => {
  const reader = await stream(path, options);
  await reader.has("stream.opened");
  return reader;
};
const eventsOf = (reader: StreamReader) =>
  reader.frames.flatMap(({ data }) =>
    "cursor" in data && "seq" in data ? [data as WorkspaceEvent] : [],
  );
const ofRun = (reader: StreamReader, runId: string) =>
  eventsOf(reader).filter(({ run_id }) => run_id === runId);
const ended = (reader: StreamReader, runId: string) =>
  eventually(
    `the end of ${runId}`,
    () => ofRun(reader, runId).some(({ type }) => type === "run.finished") || undefined,
  );
const run = async (of = agent) => (await beckon.invoke(of, "Hello")).body.run_id as string;

test("a client without a cursor gets one, and then every event of every run", async () => {
  const reader = await opened();
  const other = await beckon.createAgent();
  const [one, two] = await Promise.all([run(), run(other)]);
  await Promise.all([ended(reader, one), ended(reader, two)]);
  expect(reader.types[0]).toBe("stream.opened");
  for (const [runId, of] of [
    [one, agent],
    [two, other],
  ] as const) {
    const journal = (await beckon.call(`/runs/${runId}/events`)).body.data;
    const seen = ofRun(reader, runId);
    expect(seen).toEqual(
      journal.map((event: object, index: number) => ({
        ...event,
        agent_id: of.id,
        cursor: seen[index]?.cursor,
      })),
    );
  }
});

/**
 * Waits until the run's events are older than the oldest open transaction on the PostgreSQL server,
 * including transactions of other tests. A new stream begins at that transaction, so a stream that
 * is opened now does not send these events.
 */
const isPast = (runId: string) =>
  eventually(`an order of events that is past ${runId}`, async () => {
    const { rows } = await beckon.db.database.engine.query<{ past: boolean }>(
      "select pg_snapshot_xmin(pg_current_snapshot())::text::bigint > max(transaction) as past from events where run_id = $1",
      [runId],
    );
    return rows[0]?.past || undefined;
  });

test("events read over REST after the first frame and the stream leave no gap", async () => {
  const before = await run();
  await isPast(before);
  const reader = await opened();
  const after = await run();
  await ended(reader, after);
  expect(ofRun(reader, before)).toEqual([]);
});

test("a client resumes after the event in Last-Event-ID, and after ?after=", async () => {
  const reader = await opened();
  const [first, second] = [await run(), await run()];
  await ended(reader, second);
  const mark = ofRun(reader, first).at(0)?.cursor ?? "";
  const rest = eventsOf(reader).slice(
    eventsOf(reader).findIndex(({ cursor }) => cursor === mark) + 1,
  );
  const resumed = [
    await stream("/events", { headers: { "last-event-id": mark } }),
    await stream(`/events?after=${mark}`),
  ];
  for (const each of resumed) {
    await ended(each, second);
    expect(eventsOf(each).slice(0, rest.length)).toEqual(rest);
  }
});

test("a stream of one agent, and of some kinds, contains nothing else", async () => {
  const other = await beckon.createAgent();
  const [ofAgent, ofKind] = [
    await opened(`/events?agent_id=${other.id}`),
    await opened("/events?kind=run.finished,run.failed"),
  ];
  const [mine, theirs] = [await run(), await run(other)];
  await Promise.all([ended(ofAgent, theirs), ended(ofKind, mine), ended(ofKind, theirs)]);
  expect(new Set(eventsOf(ofAgent).map(({ agent_id }) => agent_id))).toEqual(new Set([other.id]));
  expect(new Set(eventsOf(ofKind).map(({ type }) => type))).toEqual(new Set(["run.finished"]));
});

test("a stream that shows none of the new events sends a cursor after them", async () => {
  await isPast(await run());
  const reader = await opened("/events?kind=run.cancelled");
  const before = reader.lastEventId;
  const runId = await run();
  const cursor = await eventually("a cursor without an event", () =>
    reader.lastEventId === before ? undefined : reader.lastEventId,
  );
  const { data } = (await beckon.call(`/events?after=${cursor}`)).body;
  const isFirst = ({ run_id, seq }: WorkspaceEvent) => run_id === runId && seq === 1;
  expect(data.filter(isFirst)).toEqual([]);
});

test("a stream that shows none of the new events sends at most one cursor in 15 seconds", async () => {
  const selected = await beckon.createAgent();
  const start = performance.now();
  const [all, reader] = [await opened(), await opened(`/events?agent_id=${selected.id}`)];
  // Each run is read before the next one starts, so each run has batches of its own.
  for (let count = 0; count < 3; count++) await ended(all, await run());
  await ended(reader, await run(selected));
  const seconds = (performance.now() - start) / 1_000;
  const cursors = reader.text.match(/^: cursor /gm) ?? [];
  expect(cursors.length).toBeLessThanOrEqual(1 + Math.floor(seconds / 15));
});

test("a limited client resumes after a cursor that names no run of another agent", async () => {
  const mine = await beckon.createAgent();
  await isPast(await run());
  const reader = await opened("/events", { credential: mine.token });
  const before = reader.lastEventId;
  const theirs = await run();
  const cursor = await eventually("a cursor without an event", () =>
    reader.lastEventId === before ? undefined : reader.lastEventId,
  );
  expect(Buffer.from(cursor ?? "", "base64url").toString()).not.toContain(theirs);
  const resumed = await stream("/events", {
    credential: mine.token,
    headers: { "last-event-id": cursor ?? "" },
  });
  const own = await run(mine);
  await ended(resumed, own);
  expect(resumed.types).not.toContain("stream.reset");
});

test("a client of another workspace sees nothing of ours", async () => {
  const stranger = await opened("/events", { credential: await insertStranger(beckon) });
  const ours = await opened();
  await ended(ours, await run());
  expect(eventsOf(stranger)).toEqual([]);
});

test("a cursor of another workspace is accepted, and shows none of its events", async () => {
  await isPast(await run());
  const [{ cursor }] = (await beckon.call("/events?limit=1")).body.data;
  const credential = await insertStranger(beckon);
  const { status, body } = await beckon.call(`/events?after=${cursor}`, { credential });
  expect({ status, events: body.data }).toEqual({ status: 200, events: [] });
});

test("an agent's token and a key that is limited to agents see only the events of those", async () => {
  const other = await beckon.createAgent();
  const limited = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [other.id] });
  const readers = await Promise.all(
    [other.token, limited].map((credential) => opened("/events", { credential })),
  );
  await run();
  const theirs = await run(other);
  for (const reader of readers) {
    await ended(reader, theirs);
    expect(new Set(eventsOf(reader).map(({ agent_id }) => agent_id))).toEqual(new Set([other.id]));
  }
  for (const credential of [other.token, limited]) {
    const page = await beckon.call("/events?limit=200", { credential });
    expect(page.body.data.filter((event: WorkspaceEvent) => event.agent_id !== other.id)).toEqual(
      [],
    );
    expectError(
      await beckon.call(`/events?agent_id=${agent.id}`, { credential }),
      404,
      "not_found",
    );
  }
});

test("a stream ends when its key is limited to other agents", async () => {
  const credential = await insertKey(beckon, { scopes: ["runs:read"], agentIds: [agent.id] });
  const reader = await opened("/events", { credential });
  const other = await beckon.createAgent();
  await beckon.db.database.engine.query("update keys set agent_ids = $1 where agent_ids = $2", [
    [other.id],
    [agent.id],
  ]);
  expect(await reader.over).toBe("ended");
  expect(reader.types.at(-1)).toBe("stream.closed");
});

test("an event is held back until no other event can be ordered before it", async () => {
  const reader = await opened();
  const early = await openClient(beckon.db.url);
  onTestFinished(() => early.end());
  await early.query("begin");
  await early.query("select pg_current_xact_id()");
  const late = await run();
  const runId = await run();
  const copied = (await beckon.call(`/runs/${late}/events`)).body.data.length + 1;
  await early.query("select set_config('beckon.workspace', '*', true)");
  await early.query(
    "insert into events (run_id, seq, workspace_id, id, type, version, data) select id, $2, workspace_id, 'evt_early', 'run.step', 1, '{}' from runs where id = $1",
    [late, copied],
  );
  expect(ofRun(reader, runId)).toEqual([]);
  await early.query("commit");
  await ended(reader, runId);
  const order = eventsOf(reader).filter(({ run_id }) => run_id === late || run_id === runId);
  expect(order[0]?.id).toBe("evt_early");
});

test("a run's events are in the order of seq although an older transaction wrote a later one", async () => {
  const reader = await opened();
  const slow = await beckon.createAgent({ limits: { max_concurrent_runs: 1 } });
  const older = await openClient(beckon.db.url);
  onTestFinished(() => older.end());
  await older.query("begin");
  await older.query("select pg_current_xact_id()");
  const runId = await run(slow);
  await older.query("select set_config('beckon.workspace', '*', true)");
  // Writes an event with the run's next `seq` without executing the run. The statements that end a
  // queued run do the same.
  await older.query(
    `with moved as (
      update runs set last_seq = last_seq + 1, last_transaction = greatest(last_transaction, current_transaction()) where id = $1
      returning id, workspace_id, last_seq, last_transaction
    ) insert into events (run_id, seq, workspace_id, transaction, id, type, version, data)
      select id, last_seq, workspace_id, last_transaction, 'evt_older', 'run.step', 1, '{}' from moved`,
    [runId],
  );
  await older.query("commit");
  await eventually(
    "the last event",
    () => ofRun(reader, runId).some(({ id }) => id === "evt_older") || undefined,
  );
  const seqs = ofRun(reader, runId).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test("200 runs on two processes, 50 clients disconnected at any byte and resumed on either: each misses nothing and gets each run in order", async () => {
  const second = await beckon.another();
  onTestFinished(() => second.stop());
  const urls = [beckon.url, second.url];
  const start = (await opened()).lastEventId ?? "";
  const cutsOf = fc.sample(
    fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 2, maxLength: 4 }),
    50,
  );
  const runs = Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const answer = await fetch(`${urls[index % 2]}/api/public/agents/${agent.id}/invoke`, {
        method: "POST",
        headers: { "x-api-key": agent.token, "content-type": "application/json" },
        body: JSON.stringify({ input: `run ${index}` }),
      });
      return ((await answer.json()) as { run_id: string }).run_id;
    }),
  );
  const seen = cutsOf.map(async (cuts, index) => {
    const events: WorkspaceEvent[] = [];
    let cursor = start;
    for (const [turn, cutAfter] of [...cuts, undefined].entries()) {
      const headers = { "last-event-id": cursor };
      const reader = await stream(
        "/events",
        cutAfter === undefined ? { headers } : { headers, cutAfter },
        urls[(index + turn) % 2],
      );
      const missing = 200 - events.filter(({ type }) => type === "run.finished").length;
      // The wait below also ends when the stream has ended, for example because it was cut. If it
      // waited on for events that no longer arrive, it would take CPU time from the other clients.
      let isOver = false;
      void reader.over.then(() => {
        isOver = true;
      });
      await eventually("all runs' ends", () => isOver || endsIn(reader) >= missing || undefined);
      events.push(...eventsOf(reader));
      cursor = reader.lastEventId ?? cursor;
      reader.close();
    }
    return events;
  });
  const ids = await runs;
  for (const events of await Promise.all(seen)) {
    for (const runId of ids) {
      const seqs = events.filter(({ run_id }) => run_id === runId).map(({ seq }) => seq);
      expect(seqs.length).toBeGreaterThanOrEqual(3);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    }
  }
});

/**
 * Returns the number of complete frames with the end of a run. Does not parse the frames, because
 * this function is called often.
 */
function endsIn(reader: StreamReader): number {
  return reader.text.match(/^event: run\.finished\ndata: .*\n\n/gm)?.length ?? 0;
}

test("a cursor of another generation restarts the stream, and says so", async () => {
  const reader = await opened();
  const foreign = Buffer.from(
    (reader.lastEventId &&
      Buffer.from(reader.lastEventId, "base64url").toString().replace(/^.{8}/, "00000000")) ??
      "",
  ).toString("base64url");
  const reset = await stream("/events", { headers: { "last-event-id": foreign } });
  await reset.has("stream.reset");
  const runId = await run();
  await ended(reset, runId);
  expect(reset.types[0]).toBe("stream.reset");
  expect(reset.text).toContain("restored or moved, PostgreSQL failed over to a standby, or");
  expectError(await beckon.call(`/events?after=${foreign}`), 400, "bad_request", /restore/);
});

test("a cursor from the future of a restored database restarts the stream", async () => {
  const reader = await opened();
  const [generation] = Buffer.from(reader.lastEventId ?? "", "base64url")
    .toString()
    .split(".");
  const future = Buffer.from(`${generation}.999999999999..0`).toString("base64url");
  const reset = await stream(`/events?after=${future}`);
  await reset.has("stream.reset");
  expect(reset.types[0]).toBe("stream.reset");
});

test.each([
  "x",
  "MTIz",
  "%00",
  "a".repeat(201),
  "a.b",
  Buffer.from("deadbeef.1.run_x.1").toString("base64url"),
])("the cursor %s is rejected", async (cursor) => {
  expectError(await beckon.call(`/events?after=${cursor}`), 400, "bad_request", /after/);
  expectError(
    await beckon.call(`/events?after=${cursor}`, { headers: sse }),
    400,
    "bad_request",
    /after/,
  );
});

test.each(["kind=run.none", "kind=", "limit=0", "from=3"])("?%s is rejected", async (query) => {
  expectError(
    await beckon.call(`/events?${query}`),
    400,
    "bad_request",
    new RegExp(query.split("=")[0] ?? ""),
  );
});

test("all pages together equal the stream", async () => {
  const reader = await opened();
  let cursor = reader.lastEventId ?? "";
  const runId = await run();
  await ended(reader, runId);
  const paged: WorkspaceEvent[] = [];
  for (let next: string | null = cursor; next !== null; ) {
    const { body } = await beckon.call(`/events?limit=1&after=${next}`);
    paged.push(...body.data);
    next = body.next;
    cursor = paged.at(-1)?.cursor ?? cursor;
  }
  const shown = eventsOf(reader).slice(0, paged.length);
  expect(paged.filter(({ run_id }) => run_id === runId)).toHaveLength(ofRun(reader, runId).length);
  expect(paged).toEqual(shown);
  expect((await beckon.call(`/events?after=${cursor}&agent_id=${agent.id}`)).body.next).toBeNull();
});
