import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { collect } from "../test/collect.ts";
import {
  disconnects,
  type Handler,
  rejects,
  responds,
  sendsStream,
  startScriptedServer,
} from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import type { WatchedEvent } from "./watched-event.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url, key: "bkw_secret" });

const types = ["run.started", "run.step", "run.finished"];
const frame = (seq: number) =>
  `id: ${seq}\nevent: ${types[seq - 1]}\ndata: ${JSON.stringify({ id: `evt_${seq}`, run_id: "run_1", seq, type: types[seq - 1], data: {} })}\n\n`;
const output = `event: run.output.start\ndata: ${JSON.stringify({ type: "run.output.start", run_id: "run_1", data: { step: 1, attempt: 1 } })}\n\n`;
const soon = "retry: 10\n\n";

/** Responds like invoke: with a stream of events, and with the URL of the run in `Location`. */
const starts =
  (text: string, options?: { disconnect: boolean }): Handler =>
  (response, request) => {
    response.setHeader("location", "/api/public/runs/run_1");
    sendsStream(text, options)(response, request);
  };
const seen = async (events: AsyncIterable<WatchedEvent>) =>
  (await collect(events)).map((event) => ("seq" in event ? event.seq : event.type));

test("the response to the start is the stream, with the output of the first step", async () => {
  server.script(starts(soon + frame(1) + output + frame(2) + frame(3), { disconnect: false }));
  const { run_id, events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" });
  expect([run_id, await seen(events)]).toEqual(["run_1", [1, "run.output.start", 2, 3]]);
  expect(server.requests).toMatchObject([
    {
      method: "POST",
      path: "/api/public/agents/agt_1/invoke",
      body: '{"input":"Hello"}',
      headers: {
        accept: "text/event-stream",
        "idempotency-key": expect.stringMatching(/^[0-9a-f]{32}$/),
        "x-api-key": "bkw_secret",
      },
    },
  ]);
});

test("after a lost connection the stream of the run continues it", async () => {
  server.script(starts(soon + frame(1)), sendsStream(frame(2) + frame(3), { disconnect: false }));
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "" }, { token: "bka_1" });
  expect(await seen(events)).toEqual([1, 2, 3]);
  expect(server.requests.map(({ path, headers }) => [path, headers["last-event-id"]])).toEqual([
    ["/api/public/agents/agt_1/invoke", undefined],
    ["/api/public/runs/run_1/events", "1"],
  ]);
  expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["bka_1", "bka_1"]);
});

test("a credential that cannot read runs continues the stream by the same start", async () => {
  server.script(
    starts(soon + frame(1)),
    rejects(403, "forbidden"),
    starts(soon + frame(2)),
    starts(frame(3), { disconnect: false }),
  );
  const [body, tags] = [{ input: "Hello" }, ["billing"]];
  const { events } = await beckon.agents.startAndWatch("agt_1", body, {
    externalId: "order 1",
    tags,
    callback: "https://example.com/hook",
  });
  // The start is repeated as it was sent first.
  body.input = "Changed";
  tags.push("changed");
  expect(await seen(events)).toEqual([1, 2, 3]);
  const start = server.requests[0]?.headers["idempotency-key"];
  const labels = ["order%201", "billing", "https://example.com/hook"];
  expect(
    server.requests.map(({ method, body, headers }) => [
      method,
      body,
      headers["last-event-id"],
      headers["idempotency-key"] === start,
      [headers["beckon-external-id"], headers["beckon-tags"], headers["beckon-callback"]],
    ]),
  ).toEqual([
    ["POST", '{"input":"Hello"}', undefined, true, labels],
    ["GET", "", "1", false, [undefined, undefined, undefined]],
    ["POST", '{"input":"Hello"}', "1", true, labels],
    ["POST", '{"input":"Hello"}', "2", true, labels],
  ]);
});

test("a start with an old Idempotency-Key is not repeated", async () => {
  // The caller may have used its Idempotency-Key hours ago. After the server has forgotten it, a
  // repeated start would start a second run.
  const replays: Handler = (response, request) => {
    response.setHeader("idempotency-replayed", "true");
    starts(soon + frame(1))(response, request);
  };
  server.script(replays, rejects(403, "forbidden"), starts(frame(2) + frame(3)));
  const options = { idempotencyKey: "order 1" };
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" }, options);
  await expect(seen(events)).rejects.toMatchObject({ status: 403, code: "forbidden" });
  expect(server.requests.map(({ method }) => method)).toEqual(["POST", "GET"]);
});

test.each([
  ["a new key of the caller", { idempotencyKey: "order 1" }, false],
  ["a key of the client, after a lost response,", {}, true],
])("a start with %s is repeated", async (_which, options, isReplayed) => {
  const continues: Handler = (response, request) => {
    if (isReplayed) response.setHeader("idempotency-replayed", "true");
    starts(soon + frame(1))(response, request);
  };
  server.script(continues, rejects(403, "forbidden"), starts(frame(2) + frame(3)));
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" }, options);
  expect(await seen(events)).toEqual([1, 2, 3]);
});

test("a start that is rejected when it continues the stream throws", async () => {
  server.script(starts(soon + frame(1)), rejects(403, "forbidden"), rejects(403, "forbidden"));
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" });
  await expect(seen(events)).rejects.toMatchObject({ status: 403, code: "forbidden" });
});

test("a start whose response was lost is repeated with the same Idempotency-Key", async () => {
  server.script(disconnects, starts(frame(1) + frame(2) + frame(3), { disconnect: false }));
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" });
  expect(await seen(events)).toEqual([1, 2, 3]);
  const keys = server.requests.map(({ headers }) => headers["idempotency-key"]);
  expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
});

test("a run that is not started throws, and so does a response without a stream", async () => {
  const start = () => beckon.agents.startAndWatch("agt_1", { input: "Hello" });
  server.script(rejects(409, "agent_paused"));
  await expect(start()).rejects.toMatchObject({ status: 409, code: "agent_paused" });
  server.script(responds(200, { ok: true, run_id: "run_1", output: "Hello" }));
  await expect(start()).rejects.toMatchObject({ code: "unexpected_answer" });
});

test("a signal that outlives the watch keeps nothing of it", async () => {
  server.script(starts(frame(1) + frame(2) + frame(3), { disconnect: false }));
  const { signal } = new AbortController();
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" }, { signal });
  expect(await seen(events)).toEqual([1, 2, 3]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test.each([
  ["before an event is read", 0],
  ["while an event is awaited", 2],
])("return() closes the connection, also %s", async (_, reads) => {
  const closed = Promise.withResolvers<void>();
  server.script((response) => {
    response.on("close", () => closed.resolve());
    response.setHeader("location", "/api/public/runs/run_1");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame(1));
  });
  const { signal } = new AbortController();
  const { events } = await beckon.agents.startAndWatch("agt_1", { input: "Hello" }, { signal });
  const read = Array.from({ length: reads }, () => events.next());
  await read[0];
  const done = { done: true, value: undefined };
  expect(await events.return(undefined)).toEqual(done);
  if (reads > 0) expect(await read.at(-1)).toEqual(done);
  await closed.promise;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("its signal closes the connection, also while nobody reads the events", async () => {
  const closed = Promise.withResolvers<void>();
  server.script((response, request) => {
    response.on("close", () => closed.resolve());
    response.setHeader("location", "/api/public/runs/run_1");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame(1));
    expect(request.method).toBe("POST");
  });
  const controller = new AbortController();
  const { signal } = controller;
  await beckon.agents.startAndWatch("agt_1", { input: "Hello" }, { signal });
  controller.abort();
  await closed.promise;
});
