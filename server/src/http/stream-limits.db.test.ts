import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon, type TestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { growJournal } from "../../test/grow-journal.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { says } from "../../test/model-server.ts";
import { openStream, type StreamOptions, type StreamReader } from "../../test/read-stream.ts";
import { statesOf } from "../../test/runs-of.ts";
import { insertStranger } from "../../test/workspace-key.ts";

const sse = { accept: "text/event-stream" };
/**
 * `stallMs` is so long that a stalled client stays connected while a test sends another request,
 * even on a busy machine.
 */
const [heartbeatMs, stallMs] = [50, 2_000];
const beckon = await startTestBeckon(
  {},
  {
    streamLimits: {
      maxStreams: 5,
      maxPerWorkspace: 4,
      maxPerCredential: 3,
      heartbeatMs,
    },
    connectionLimits: { stallMs },
  },
);

async function open(url: string, options: StreamOptions): Promise<StreamReader> {
  const reader = await openStream(url, options);
  onTestFinished(() => reader.close());
  return reader;
}

/** Starts a run that executes until `held.release()`, and opens 3 streams of it with one token. */
async function full({ url }: TestBeckon = beckon) {
  const held = await startHeldModel(beckon, says("Hello"));
  const agent = await beckon.createAgent({ model: held.model });
  const { body } = await beckon.invoke(agent, "Hello", { prefer: "respond-async" });
  // A test expects `run.started` to be the last event of these streams. If they were opened before
  // the model call, they would also get events of its output.
  await held.reached(1);
  const events = `/runs/${body.run_id}/events`;
  const openOne = (credential = agent.token) => open(`${url}/api/public${events}`, { credential });
  const readers = await Promise.all([openOne(), openOne(), openOne()]);
  return { held, agent, events, openOne, readers };
}

test("a credential has a maximum number of open streams, and one that has ended frees its capacity", async () => {
  const { held, agent, events, openOne, readers } = await full();
  const rejected = await beckon.call(events, { credential: agent.token, headers: sse });
  expectError(rejected, 429, "too_many_requests", /3 open streams/);
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await openOne(beckon.key)).status).toBe(200);
  readers[0]?.close();
  const again = await eventually("room", async () => {
    const reader = await openOne();
    return reader.status === 200 ? reader : undefined;
  });
  held.release();
  await again.over;
});

test("an invoke that asks for a stream above the limit starts no run", async () => {
  const { agent } = await full();
  const call = { credential: agent.token, body: { input: "Hello" }, headers: sse };
  expectError(await beckon.call(`/agents/${agent.id}/invoke`, call), 429, "too_many_requests");
  expect(await statesOf(beckon, agent.id)).toEqual({ running: 1 });
});

test("a caller at the limit of streams can still read pages and invoke", async () => {
  const { agent, events, held } = await full();
  expect((await beckon.call(events, { credential: agent.token })).status).toBe(200);
  held.release();
  expect((await beckon.invoke(agent, "Hello")).status).toBe(200);
});

test("a workspace has a maximum number of open streams, whatever its credentials, and others still get theirs", async () => {
  const { agent, events, openOne } = await full();
  expect((await openOne(beckon.key)).status).toBe(200);
  const message = /workspace has 4 open streams/;
  const rejected = await beckon.call(events, { headers: sse });
  expectError(rejected, 429, "too_many_requests", message);
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
  const call = { body: { input: "Hello" }, headers: sse };
  const invoked = await beckon.call(`/agents/${agent.id}/invoke`, call);
  expectError(invoked, 429, "too_many_requests", message);
  expect(await statesOf(beckon, agent.id)).toEqual({ running: 1 });
  const credential = await insertStranger(beckon);
  const other = await open(`${beckon.url}/api/public/events`, { credential });
  expect(other.status).toBe(200);
});

test("a process has a maximum number of open streams", async () => {
  const { openOne } = await full();
  await openOne(beckon.key);
  const credential = await insertStranger(beckon);
  await open(`${beckon.url}/api/public/events`, { credential });
  const rejected = await beckon.call("/events", { credential, headers: sse });
  expectError(rejected, 503, "unavailable");
  expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("rejected requests use no capacity", async () => {
  const agent = await beckon.createAgent();
  for (let index = 0; index < 5; index++) {
    expectError(await beckon.call("/runs/run_none/events", { headers: sse }), 404, "not_found");
    expectError(
      await beckon.call(`/agents/${agent.id}/invoke`, {
        credential: agent.token,
        body: {},
        headers: sse,
      }),
      400,
      "bad_request",
    );
  }
  expect(
    (
      await beckon.call(`/agents/${agent.id}/invoke`, {
        credential: agent.token,
        body: { input: "Hello" },
        headers: sse,
      })
    ).status,
  ).toBe(200);
});

test("a client that accepts no data, while there is some, is disconnected", async () => {
  const { body } = await beckon.invoke(await beckon.createAgent(), "Hello");
  await growJournal(beckon.db.database.engine, body.run_id, 240, 50_000);
  const { readers, openOne } = await full();
  const key = (await beckon.call("/keys", { body: { name: "Test", scopes: ["runs:read"] } })).body
    .data.key;
  const url = `${beckon.url}/api/public/runs/${body.run_id}/events`;
  const stalled = await open(url, { credential: key, paused: true });
  expect([stalled.status, (await openOne(key)).status]).toEqual([200, 429]);
  // The other streams stay open, so there is capacity only after `stalled` was disconnected.
  await eventually(
    "room for another",
    async () => (await openOne(key)).status === 200 || undefined,
  );
  stalled.resume();
  expect(await stalled.over).toBe("cut");
  expect(readers.map(({ types }) => types.at(-1))).toEqual([
    "run.started",
    "run.started",
    "run.started",
  ]);
});

test("a client of an idle stream is not disconnected", async () => {
  const { held, readers } = await full();
  const many = (1.2 * stallMs) / heartbeatMs;
  await eventually(
    "comments for longer than a client can stall",
    () => (readers[0]?.text.match(/^:$/gm) ?? []).length > many || undefined,
  );
  held.release();
  expect(await Promise.all(readers.map(({ over }) => over))).toEqual(["ended", "ended", "ended"]);
});
