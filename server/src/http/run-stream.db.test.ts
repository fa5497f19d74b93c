import { EventSource } from "eventsource";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import {
  type Behaviour,
  says,
  startModelServer,
  streamOf,
  textChunk,
  withDelivery,
} from "../../test/model-server.ts";
import { openStream, type StreamOptions } from "../../test/read-stream.ts";
import { startResettingProxy } from "../../test/resetting-proxy.ts";

const beckon = await startTestBeckon({}, { streamLimits: { heartbeatMs: 50, retryMs: 100 } });
const agent = await beckon.createAgent({ tools: [{ type: "clock" }] });
const { body: invoked } = await beckon.invoke(agent, "/call clock {}");
const finished = `/runs/${invoked.run_id}/events`;
const journal = (await beckon.call(finished)).body.data;
const last = journal.length;
const sse = { accept: "text/event-stream" };

const stream = async (path: string, options: StreamOptions = {}) => {
  const reader = await openStream(`${beckon.url}/api/public${path}`, {
    credential: beckon.key,
    ...options,
  });
  onTestFinished(() => reader.close());
  return reader;
};

/** Starts a run whose model does not respond until `held.release()`. */
async function executing(behaviour: Behaviour = says("Hello")) {
  const held = await startHeldModel(beckon, behaviour);
  const { id, token } = await beckon.createAgent({ model: held.model, tools: [{ type: "clock" }] });
  const { body } = await beckon.invoke({ id, token }, "Hello", { prefer: "respond-async" });
  await held.reached(1);
  return { held, runId: body.run_id as string, path: `/runs/${body.run_id}/events`, token };
}

test("a finished run's stream contains its journal, and ends", async () => {
  const reader = await stream(finished);
  expect(await reader.over).toBe("ended");
  expect(reader.frames.map(({ data }) => data)).toEqual(journal);
  expect(reader.frames.map(({ id }) => id)).toEqual(
    journal.map(({ seq }: { seq: number }) => String(seq)),
  );
});

test.each([
  ["after", { ...sse, "idempotency-key": "with after" }],
  ["wait", {}],
])(
  "an invoke with the query parameter %s is rejected, whose header does the same",
  async (name, headers) => {
    const invoke = (query: string, credential = agent.token) =>
      beckon.call(`/agents/${agent.id}/invoke${query}`, {
        credential,
        body: { input: "Hello" },
        headers,
      });
    const message = new RegExp(`unknown query parameter ${name} .*Prefer.*Last-Event-ID`);
    expectError(await invoke(`?${name}=1`), 400, "bad_request", message);
    expect((await invoke("")).status).toBe(200);
    expectError(await invoke(`?${name}=1`), 400, "bad_request", message);
    expectError(await invoke(`?${name}=1`, "junk"), 401, "unauthorized");
  },
);

test("the headers of a stream prevent caching, transformation and buffering", async () => {
  const { status, headers } = await stream(finished);
  expect([status, headers]).toEqual([
    200,
    expect.objectContaining({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    }),
  ]);
  expect(headers["content-encoding"]).toBeUndefined();
});

test("a stream first sends the reconnection time", async () => {
  const reader = await stream(finished);
  await reader.over;
  expect(reader.text).toMatch(/^retry: [12]\d\d\n\nid: 1\nevent: run\./);
});

test("events come as they become durable", async () => {
  const { held, path } = await executing();
  const reader = await stream(path);
  await reader.has("run.started");
  expect(reader.types.filter((type) => type !== "run.queued")).toEqual(["run.started"]);
  held.release();
  expect(await reader.over).toBe("ended");
  expect(reader.types.at(-1)).toBe("run.finished");
  expect(reader.frames.map(({ data }) => data)).toEqual((await beckon.call(path)).body.data);
});

test("an idle stream carries comments", async () => {
  const { path } = await executing();
  const reader = await stream(path);
  await eventually(
    "two comments",
    () => (reader.text.match(/^:$/gm) ?? []).length >= 2 || undefined,
  );
});

test("a client resumes after the event in Last-Event-ID", async () => {
  const reader = await stream(finished, { headers: { "last-event-id": "2" } });
  await reader.over;
  expect(reader.seqs).toEqual(journal.slice(2).map(({ seq }: { seq: number }) => seq));
});

test("a client resumes after ?after=, and Last-Event-ID takes precedence", async () => {
  const after = await stream(`${finished}?after=${last - 1}`);
  const both = await stream(`${finished}?after=1`, {
    headers: { "last-event-id": String(last - 1) },
  });
  await Promise.all([after.over, both.over]);
  expect([after.seqs, both.seqs]).toEqual([[last], [last]]);
});

test("an empty Last-Event-ID is ignored", async () => {
  const reader = await stream(`${finished}?after=${last - 1}`, {
    headers: { "last-event-id": "" },
  });
  await reader.over;
  expect(reader.seqs).toEqual([last]);
});

test("a client that has read the end gets a response without content", async () => {
  const answer = await beckon.call(finished, {
    headers: { ...sse, "last-event-id": String(last) },
  });
  expect([answer.status, answer.body]).toEqual([204, undefined]);
});

test("an EventSource reads a run to its end, after a disconnect, and does not reconnect after that", async () => {
  const proxy = await startResettingProxy(new URL(beckon.url), [500]);
  onTestFinished(() => proxy.close());
  const source = new EventSource(`${proxy.url}/api/public${finished}`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, "x-api-key": beckon.key } }),
  });
  onTestFinished(() => source.close());
  const seqs: number[] = [];
  for (const type of new Set(journal.map((event: { type: string }) => event.type)) as Set<string>) {
    source.addEventListener(type, ({ data }) => seqs.push(JSON.parse(data).seq));
  }
  await eventually("its end", () => source.readyState === source.CLOSED || undefined);
  expect([seqs, proxy.cuts]).toEqual([journal.map(({ seq }: { seq: number }) => seq), 1]);
});

test.each(["-1", "first", "1.5", "0x1", "9999999999", "1, 2"])(
  "Last-Event-ID: %s is rejected",
  async (id) => {
    expectError(
      await beckon.call(finished, { headers: { ...sse, "last-event-id": id } }),
      400,
      "bad_request",
      /Last-Event-ID/,
    );
  },
);

test.each(["after=-1", "after=first", "after=", "limit=5", "from=3"])(
  "?%s is rejected for a stream",
  async (query) => {
    const name = query.split("=")[0] ?? "";
    expectError(
      await beckon.call(`${finished}?${query}`, { headers: sse }),
      400,
      "bad_request",
      new RegExp(name),
    );
  },
);

test("a cursor beyond the journal is rejected, also while the run continues", async () => {
  const { path } = await executing();
  for (const each of [finished, path]) {
    expectError(
      await beckon.call(`${each}?after=1000`, { headers: sse }),
      400,
      "bad_request",
      /1000/,
    );
  }
});

test("a stream has the same errors as its page", async () => {
  const stranger = await beckon.createAgent();
  expectError(await beckon.call(finished, { headers: sse, credential: null }), 401, "unauthorized");
  expectError(
    await beckon.call(finished, { headers: sse, credential: stranger.token }),
    404,
    "not_found",
  );
  expectError(await beckon.call("/runs/run_none/events", { headers: sse }), 404, "not_found");
  const key = (await beckon.call("/keys", { body: { name: "Test", scopes: ["agents:read"] } })).body
    .data.key;
  expectError(await beckon.call(finished, { headers: sse, credential: key }), 403, "forbidden");
});

test("an agent's token reads streams of its agent's runs", async () => {
  const reader = await stream(finished, { credential: agent.token });
  await reader.over;
  expect(reader.seqs).toHaveLength(last);
});

test.each([
  ["text/event-stream", true],
  ["Text/Event-Stream", true],
  ["text/html, text/event-stream;q=0.5", true],
  ["text/event-stream, application/json;q=0", true],
  ["text/event-stream, */*", true],
  ["text/event-stream, application/json", false],
  ["application/json;q=0.1, text/event-stream", false],
  ["text/event-stream;q=0", false],
  ["text/event-stream;q=0.000", false],
  ["text/*", false],
  ["*/*", false],
  ["application/json", false],
])("Accept: %s requests a stream: %s", async (accept, asked) => {
  const { headers } = await beckon.call(finished, { headers: { accept } });
  expect(headers.get("content-type")?.startsWith("text/event-stream")).toBe(asked);
});

test("HEAD opens no stream", async () => {
  const { path } = await executing();
  const response = await fetch(`${beckon.url}/api/public${path}`, {
    method: "HEAD",
    headers: { ...sse, "x-api-key": beckon.key },
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "application/json",
  ]);
});

test("a connection that has carried a stream can carry other requests", async () => {
  for (let index = 0; index < 3; index++) {
    expect((await beckon.call(finished, { headers: sse })).status).toBe(200);
    expect((await beckon.call(finished)).body.data).toHaveLength(last);
  }
});

test("deltas are streamed while the model answers, and a later subscriber gets them from the next call on", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const { name } = await beckon.createProvider(server.url, "speaking");
  const speaking = await beckon.createAgent({
    model: `${name}/scripted`,
    tools: [{ type: "clock" }],
    model_settings: { stream: "always" },
  });
  const piece = streamOf(textChunk("Hel"));
  const bytes = await server.bytesOf(piece, { model: "scripted", messages: [], stream: true });
  // The last 5 bytes end the chunked transfer coding. Without them the response stays incomplete.
  server.script([withDelivery({ type: "stall", after: bytes - 5 }, piece)]);
  const first = await stream(`/agents/${speaking.id}/invoke`, {
    credential: speaking.token,
    body: { input: "Hello" },
  });
  await first.has("run.output.delta");
  const late = await stream(`${first.headers.location?.replace("/api/public", "")}/events`);
  await late.has("run.started");
  await beckon.call(`${first.headers.location?.replace("/api/public", "")}/cancel`, {
    method: "POST",
  });
  await Promise.all([first.over, late.over]);
  const output = (reader: typeof first) =>
    reader.frames.filter(({ event }) => event.startsWith("run.output")).map(({ data }) => data);
  const run_id = first.headers.location?.split("/").at(-1);
  expect(output(first)).toEqual([
    { type: "run.output.start", run_id, data: { step: 1, attempt: 1 } },
    { type: "run.output.delta", run_id, data: { step: 1, kind: "text", text: "Hel" } },
    { type: "run.output.end", run_id, data: { step: 1, complete: false } },
  ]);
  expect(output(late)).toEqual([]);
  expect([first.types.at(-1), late.types.at(-1)]).toEqual(["run.cancelled", "run.cancelled"]);
});

test("the provider is asked for a stream if the run has a subscriber, not if a caller only waits", async () => {
  const { held, path, token, runId } = await executing();
  const { body } = await beckon.call(`/runs/${runId}`);
  const agentHere = { id: body.data.agent_id, token };
  const waiting = beckon.invoke(agentHere, "plain");
  await held.reached(2);
  held.release();
  await waiting;
  const reader = await stream(path);
  await reader.over;
  const watched = await stream(`/agents/${agentHere.id}/invoke`, {
    credential: token,
    body: { input: "watched" },
  });
  await watched.over;
  expect(held.requests.map(({ body }) => body.stream === true)).toEqual([false, false, true]);
  const deltas = watched.frames.flatMap(({ data }) =>
    data.type === "run.output.delta" && "text" in data.data ? [data.data.text] : [],
  );
  expect(deltas.join("")).toBe("Hello");
  expect(watched.frames.find(({ event }) => event === "run.output.end")?.data.data).toEqual({
    step: 1,
    complete: true,
  });
});

/** Calls the clock, then says Hello. */
const twoSteps: Behaviour = (request, index) => {
  const called = request.body.messages.some(({ role }) => role === "tool");
  return says(called ? "Hello" : { calls: [{ id: "call_1", name: "clock", arguments: "{}" }] })(
    request,
    index,
  );
};

test.each([
  ["stays", true],
  ["leaves", false],
])(
  "if a client subscribed during a call and %s, the next call is streamed: %s",
  async (what, streamed) => {
    const { held, path } = await executing(twoSteps);
    const reader = await stream(path);
    await reader.has("run.started");
    if (what === "leaves") reader.close();
    // The server must notice that the client has left before the next model call begins. A test
    // cannot observe this, so it waits for the response to another request, which takes longer.
    await beckon.call(path);
    held.release();
    await eventually("the last call", () => held.requests.length === 2 || undefined);
    expect(held.requests.map(({ body }) => body.stream === true)).toEqual([false, streamed]);
  },
);
