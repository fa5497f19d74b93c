import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { rejects, sendsStream, startScriptedServer } from "../test/scripted-server.ts";
import { createClient } from "./client.ts";
import type { StreamNotice, WorkspaceEvent } from "./watched-event.ts";

const server = await startScriptedServer();
const beckon = createClient({ url: server.url, key: "bkw_secret" });

const soon = "retry: 10\n\n";
const notice = (type: string, cursor: string) =>
  `id: ${cursor}\nevent: ${type}\ndata: ${JSON.stringify({ type, cursor, data: {} })}\n\n`;
const frame = (cursor: string) =>
  `id: ${cursor}\nevent: run.started\ndata: ${JSON.stringify({ id: "evt_1", run_id: "run_1", seq: 1, type: "run.started", cursor })}\n\n`;

/** Returns the cursors of the first `count` events, then closes the stream. */
async function first(
  count: number,
  events: AsyncIterable<WorkspaceEvent | StreamNotice>,
): Promise<string[]> {
  const cursors: string[] = [];
  for await (const { cursor } of events) if (cursors.push(cursor) === count) break;
  return cursors;
}
const asked = () => server.requests.map(({ path, headers }) => [path, headers["last-event-id"]]);

test("it starts with the first cursor, and resumes after the last one when the connection is lost", async () => {
  server.script(
    sendsStream(soon + notice("stream.opened", "a")),
    sendsStream(frame("b") + frame("c").slice(0, 20)),
    sendsStream(frame("c")),
  );
  expect(await first(3, beckon.events.watch())).toEqual(["a", "b", "c"]);
  expect(asked()).toEqual([
    ["/api/public/events", undefined],
    ["/api/public/events", "a"],
    ["/api/public/events", "b"],
  ]);
});

test("it resumes at a stored cursor, and sends its filters with every request", async () => {
  server.script(sendsStream(soon + frame("y")), sendsStream(frame("z")));
  const filter = { agent_id: "agt_1", kind: "run.finished,run.failed" };
  expect(await first(2, beckon.events.watch({ ...filter, after: "x" }))).toEqual(["y", "z"]);
  const path = "/api/public/events?agent_id=agt_1&kind=run.finished%2Crun.failed";
  expect(asked()).toEqual([
    [path, "x"],
    [path, "y"],
  ]);
});

test("it resumes after the events that its filter leaves out", async () => {
  server.script(sendsStream(`${soon}${frame("a")}: cursor b\nid: b\n\n`), sendsStream(frame("c")));
  expect(await first(2, beckon.events.watch({ kind: "run.started" }))).toEqual(["a", "c"]);
  expect(asked().map(([, cursor]) => cursor)).toEqual([undefined, "b"]);
});

test("it passes each cursor in order, and that of an event once the loop has handled the event", async () => {
  const later = 'event: later\ndata: {"type":"later"}\n\n';
  server.script(
    sendsStream(`${soon}${notice("stream.opened", "a")}: cursor b\n\n${frame("c")}: cursor d\n\n`),
    sendsStream(`${later}${frame("e")}`),
  );
  const order: string[] = [];
  const onCursor = (cursor: string) => order.push(`stored ${cursor}`);
  for await (const event of beckon.events.watch({ kind: "run.started" }, { onCursor })) {
    if (!("cursor" in event)) continue;
    order.push(`handled ${event.cursor}`);
    if (event.cursor === "e") break;
  }
  // The loop is left while it handles `e`, so `e` does not count as handled.
  expect(order).toEqual([
    "handled a",
    "stored a",
    "stored b",
    "handled c",
    "stored c",
    "stored d",
    "handled e",
  ]);
});

test("a reset is yielded, and the stream continues after it", async () => {
  server.script(sendsStream(soon + notice("stream.reset", "new")), sendsStream(frame("next")));
  expect(await first(2, beckon.events.watch({ after: "old" }))).toEqual(["new", "next"]);
  expect(asked().map(([, cursor]) => cursor)).toEqual(["old", "new"]);
});

test("an event of a later version without a cursor keeps the position", async () => {
  server.script(
    sendsStream(`${soon}${frame("a")}event: later\ndata: {"type":"later"}\n\n`),
    sendsStream(frame("b")),
  );
  await first(3, beckon.events.watch());
  expect(asked().map(([, cursor]) => cursor)).toEqual([undefined, "a"]);
});

test.each([
  [400, "bad_request"],
  [401, "unauthorized"],
  [404, "not_found"],
])("an error %i ends the watch", async (status, code) => {
  server.script(rejects(status, code));
  await expect(beckon.events.watch({ after: "x" }).next()).rejects.toMatchObject({ status, code });
});

test("it reports each lost connection, before it reconnects", async () => {
  server.script(sendsStream(soon), sendsStream(soon), sendsStream(frame("a")));
  const reported: string[] = [];
  const events = beckon.events.watch(
    {},
    { onActivity: () => reported.push("data"), onDisconnect: () => reported.push("lost") },
  );
  await first(1, events);
  expect(reported).toEqual(["data", "data", "lost", "data", "data", "lost", "data", "data"]);
});

test("it reports activity for each chunk of data, also for a keep-alive comment", async () => {
  server.script(sendsStream(soon), sendsStream(":\n\n"), sendsStream(frame("a")));
  let activity = 0;
  await first(1, beckon.events.watch({}, { onActivity: () => activity++ }));
  // Each of the three connections reports activity when it opens and for its only chunk.
  expect(activity).toBe(6);
});

const done = { done: true, value: undefined };

test("a cancelled ReadableStream of the events closes the connection of a silent stream", async () => {
  const closed = Promise.withResolvers<void>();
  server.script((response) => {
    response.on("close", () => closed.resolve());
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frame("a"));
  });
  const { signal } = new AbortController();
  const reader = ReadableStream.from(beckon.events.watch({}, { signal })).getReader();
  await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  expect(await waiting).toEqual(done);
  await closed.promise;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("return() ends a watch at once, also while it waits before it reconnects", async () => {
  server.script(sendsStream(`retry: 3600000\n\n${frame("a")}`));
  const disconnected = Promise.withResolvers<void>();
  const events = beckon.events.watch({}, { onDisconnect: disconnected.resolve });
  await events.next();
  const waiting = events.next();
  await disconnected.promise;
  expect(await Promise.all([events.return(undefined), waiting])).toEqual([done, done]);
  expect(await events.next()).toEqual(done);
});
