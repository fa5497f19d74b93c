import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
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
import { idleTimeoutMs } from "./event-stream.ts";
import { readText } from "./read-text.ts";
import type { WatchedEvent } from "./watched-event.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url, key: "bkw_secret" });

const types: Record<number, string> = {
  1: "run.started",
  2: "run.step",
  3: "run.tool_call",
  4: "run.tool_result",
  5: "run.finished",
};
const frame = (seq: number) =>
  `id: ${seq}\nevent: ${types[seq]}\ndata: ${JSON.stringify({ id: `evt_${seq}`, run_id: "run_1", seq, type: types[seq], data: {} })}\n\n`;
const delta = (text: string) =>
  `event: run.output.delta\ndata: ${JSON.stringify({ type: "run.output.delta", run_id: "run_1", data: { step: 1, kind: "text", text } })}\n\n`;
const soon = "retry: 10\n\n";

const seen = async (events: AsyncIterable<WatchedEvent>) =>
  (await collect(events)).map((event) => ("seq" in event ? event.seq : event.type));

/**
 * Sends the event after `Last-Event-ID` and the beginning of the next one, then disconnects. After
 * the last event it sends no event.
 */
const resumes: Handler = (response, request) => {
  const next = Number(request.headers["last-event-id"] ?? 0) + 1;
  sendsStream(next > 5 ? "" : soon + frame(next) + frame(next + 1).slice(0, 20))(response, request);
};

test("each event is yielded once and in order across disconnects, and the watch ends with the run", async () => {
  server.script(resumes);
  expect(await seen(beckon.runs.watch("run_1"))).toEqual([1, 2, 3, 4, 5]);
  expect(server.requests.map(({ headers }) => headers["last-event-id"])).toEqual([
    undefined,
    "1",
    "2",
    "3",
    "4",
  ]);
  expect(server.requests[0]).toMatchObject({
    path: "/api/public/runs/run_1/events",
    headers: { accept: "text/event-stream", "x-api-key": "bkw_secret" },
  });
});

test("the caller's own parser reads the events", async () => {
  server.script(sendsStream(soon + frame(5).replace('"data":{}', '"data":9007199254740993')));
  const parse = (text: string) => JSON.parse(text.replaceAll(/\d{16,}/g, '"$&"'));
  expect(await collect(beckon.runs.watch("run_1", { after: 4, parse }))).toMatchObject([
    { seq: 5, data: "9007199254740993" },
  ]);
});

test("a watch starts after the given event", async () => {
  server.script(resumes);
  expect(await seen(beckon.runs.watch("run_1", { after: 3 }))).toEqual([4, 5]);
});

test("a watch of summaries requests summaries after each disconnect", async () => {
  server.script(resumes);
  expect(await seen(beckon.runs.watch("run_1", { view: "summary" }))).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(server.requests.map(({ path }) => path))).toEqual(
    new Set(["/api/public/runs/run_1/events?view=summary"]),
  );
});

test("duplicates are skipped, and missing events are requested again", async () => {
  server.script(
    sendsStream(soon + frame(1) + frame(2) + frame(2)),
    sendsStream(frame(1) + frame(2) + frame(4) + frame(5), { disconnect: false }),
    sendsStream(frame(3) + frame(4) + frame(5), { disconnect: false }),
  );
  expect(await seen(beckon.runs.watch("run_1"))).toEqual([1, 2, 3, 4, 5]);
});

test("model output is yielded between the events and does not affect resuming", async () => {
  server.script(
    sendsStream(`${soon}:\n\n${frame(1)}${delta("He")}${delta("llo")}`),
    sendsStream(frame(2)),
    resumes,
  );
  expect(await seen(beckon.runs.watch("run_1"))).toEqual([
    1,
    "run.output.delta",
    "run.output.delta",
    2,
    3,
    4,
    5,
  ]);
});

test("server and network errors are retried", async () => {
  server.script(
    sendsStream(soon),
    disconnects,
    rejects(503, "unavailable"),
    responds(502, "<html>"),
    rejects(429, "too_many_requests"),
    rejects(408, "bad_request"),
    resumes,
  );
  expect(await seen(beckon.runs.watch("run_1"))).toEqual([1, 2, 3, 4, 5]);
});

test("a disconnected watch reconnects no sooner than the stream's retry and Retry-After say", async () => {
  const times: number[] = [];
  const timed =
    (handler: Handler): Handler =>
    (response, request) => {
      times.push(performance.now());
      handler(response, request);
    };
  server.script(
    timed(sendsStream(`retry: 200\n\n${frame(1)}`)),
    timed(rejects(503, "unavailable", { "retry-after": "1" })),
    timed(sendsStream(frame(2))),
    timed(sendsStream(frame(3) + frame(4) + frame(5))),
  );
  expect(await seen(beckon.runs.watch("run_1"))).toEqual([1, 2, 3, 4, 5]);
  const [first = 0, second = 0, third = 0, fourth = 0] = times;
  // Timers of Node.js can end a millisecond early.
  expect(second - first).toBeGreaterThan(198);
  expect(third - second).toBeGreaterThan(998);
  expect(fourth - third).toBeGreaterThan(198);
});

test("a Retry-After beyond the time for which a watch reconnects ends the watch", async () => {
  server.script(
    sendsStream(soon + frame(1)),
    rejects(503, "unavailable", { "retry-after": "301" }),
    resumes,
  );
  const events = beckon.runs.watch("run_1");
  expect((await events.next()).value).toMatchObject({ seq: 1 });
  await expect(events.next()).rejects.toMatchObject({ status: 503, retryAfter: 301 });
});

test.each([
  [401, "unauthorized"],
  [403, "forbidden"],
  [404, "not_found"],
])("an error %i ends the watch, also after a disconnect", async (status, code) => {
  server.script(sendsStream(soon + frame(1)), rejects(status, code));
  const events = beckon.runs.watch("run_1");
  expect((await events.next()).value).toMatchObject({ seq: 1 });
  await expect(events.next()).rejects.toMatchObject({ status, code });
});

test("a stream closed because its credential is no longer valid is not resumed", async () => {
  const closed = {
    type: "stream.closed",
    data: { code: "unauthorized", message: "The credential is no longer valid." },
  };
  server.script(
    sendsStream(`${frame(1)}event: stream.closed\ndata: ${JSON.stringify(closed)}\n\n`, {
      disconnect: false,
    }),
  );
  await expect(seen(beckon.runs.watch("run_1"))).rejects.toMatchObject({
    code: "unauthorized",
    runId: "run_1",
  });
  expect(server.requests).toHaveLength(1);
});

test("a response that is no event stream is an error", async () => {
  server.script(responds(200, { ok: true, data: [], next: null }));
  await expect(seen(beckon.runs.watch("run_1"))).rejects.toMatchObject({
    code: "unexpected_answer",
  });
  server.script(sendsStream("data: <html>\n\n"));
  await expect(seen(beckon.runs.watch("run_1"))).rejects.toMatchObject({
    code: "unexpected_answer",
  });
});

test("leaving the loop closes the connection, and so does the signal", async () => {
  const closed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  server.script((response) => {
    const gone = closed[count++];
    response.on("close", () => gone?.resolve());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame(1));
  });
  for await (const _ of beckon.runs.watch("run_1")) break;
  await closed[0]?.promise;

  const controller = new AbortController();
  const events = beckon.runs.watch("run_1", { signal: controller.signal });
  await events.next();
  const waiting = events.next();
  controller.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  await closed[1]?.promise;
});

test("the signal closes the connection also while the caller handles an event", async () => {
  const closed = Promise.withResolvers<void>();
  server.script((response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame(1));
  });
  const controller = new AbortController();
  const events = beckon.runs.watch("run_1", { signal: controller.signal });
  await events.next();
  controller.abort(new Error("enough"));
  await closed.promise;
  await expect(events.next()).rejects.toThrow("enough");
});

test("the signal ends the watch also if the next events have already arrived", async () => {
  server.script(sendsStream(frame(3) + frame(4) + frame(5)));
  const controller = new AbortController();
  const { signal } = controller;
  const received: WatchedEvent[] = [];
  const read = async () => {
    for await (const event of beckon.runs.watch("run_1", { after: 2, signal })) {
      received.push(event);
      controller.abort(new Error("enough"));
    }
  };
  await expect(read()).rejects.toThrow("enough");
  expect(received).toMatchObject([{ seq: 3 }]);
});

test("the memory of a stream does not grow with the chunks that were read", async () => {
  const chunk = new TextEncoder().encode(":\n\n");
  const body = new ReadableStream<Uint8Array>({ pull: (each) => each.enqueue(chunk) });
  const text = readText(new Response(body), "GET /", 60_000);
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const heapAfter = async (chunks: number) => {
    for (let index = 0; index < chunks; index++) await text.next();
    collectGarbage();
    return getHeapStatistics().used_heap_size;
  };
  const before = await heapAfter(1_000);
  const perChunk = ((await heapAfter(20_000)) - before) / 20_000;
  expect(perChunk).toBeLessThan(50);
  await text.return(undefined);
});

test("an idle connection counts as lost", async () => {
  server.script((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(":\n\n");
  });
  const text = readText(await fetch(server.url), "GET /", 50);
  expect((await text.next()).value).toBe(":\n\n");
  await expect(text.next()).rejects.toMatchObject({ code: "no_answer" });
});

test("a connection counts as lost after the time that the README says", () => {
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const [, seconds] = /the connection is lost, or idle for (\d+)\s+seconds/.exec(readme) ?? [];
  expect(idleTimeoutMs).toBe(Number(seconds) * 1_000);
});
