import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { countQueries } from "../../test/count-queries.ts";
import { databaseAt } from "../../test/database-url.ts";
import { eventually } from "../../test/eventually.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { type Behaviour, says } from "../../test/model-server.ts";
import { openClient } from "../../test/open-client.ts";
import { openStream, type StreamReader } from "../../test/read-stream.ts";

/** `beckon` executes runs. `api` only serves requests: its clients read what `beckon` writes. */
const beckon = await startTestBeckon();
const api = await beckon.another({ settings: { BECKON_ROLE: "api" } });
afterAll(() => api.stop());

/** Calls the clock eight times, then says Hello. */
const manySteps: Behaviour = (request, index) => {
  const answered = request.body.messages.filter(({ role }) => role === "tool").length;
  return says(
    answered === 8
      ? "Hello"
      : { calls: [{ id: `call_${answered}`, name: "clock", arguments: "{}" }] },
  )(request, index);
};

/** Starts runs whose model does not respond until `held.release()`. */
async function executing(count: number, behaviour: Behaviour = manySteps) {
  const held = await startHeldModel(beckon, behaviour);
  const agent = await beckon.createAgent({ model: held.model, tools: [{ type: "clock" }] });
  const started = await Promise.all(
    Array.from({ length: count }, () => beckon.invoke(agent, "Hello", { prefer: "respond-async" })),
  );
  await held.reached(count);
  return {
    held,
    agent,
    paths: started.map(({ body }) => `/api/public/runs/${body.run_id}/events`),
  };
}

async function open(url: string, lastEventId?: string): Promise<StreamReader> {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const reader = await openStream(url, { credential: beckon.key, headers });
  onTestFinished(() => reader.close());
  return reader;
}

const journalEvents = (reader: StreamReader) =>
  reader.frames.filter(({ id }) => id !== undefined).map(({ data }) => data);
const journalAt = async (path: string) => (await beckon.call(`${beckon.url}${path}`)).body.data;

test("a client at another process reads complete steps as they are written", async () => {
  const {
    held,
    paths: [path = ""],
  } = await executing(1);
  const there = await open(api.url + path);
  await there.has("run.started");
  held.release();
  expect(await there.over).toBe("ended");
  expect(there.types.some((type) => type.startsWith("run.output"))).toBe(false);
  expect(journalEvents(there)).toEqual(await journalAt(path));
});

test("without notifications between processes streams are complete, only later", async () => {
  const { held, paths } = await executing(5);
  const admin = await openClient(databaseAt(inject("server").adminUrl, beckon.db.name));
  let deaf = true;
  const deafening = (async () => {
    while (deaf) {
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and (query = 'listen beckon' or query = 'select') and state = 'idle'`,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const readers = await Promise.all(
    paths.flatMap((path) => [open(api.url + path), open(beckon.url + path)]),
  );
  held.release();
  await Promise.all(readers.map(({ over }) => over));
  deaf = false;
  await deafening;
  await admin.end();
  for (const [index, reader] of readers.entries()) {
    expect(journalEvents(reader)).toEqual(await journalAt(paths[Math.floor(index / 2)] ?? ""));
  }
});

test("1,000 clients at two processes cause almost no queries while idle, and get events soon", async ({
  annotate,
}) => {
  const { held, paths } = await executing(20, says("Hello"));
  const readers: StreamReader[] = [];
  for (const path of paths) {
    readers.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          open((index % 2 === 0 ? beckon.url : api.url) + path),
        ),
      )),
    );
  }
  await eventually(
    "the first event at all",
    () => readers.every(({ types }) => types.includes("run.started")) || undefined,
  );
  const queries = countQueries();
  const began = performance.now();
  await eventually("two seconds", () => performance.now() - began > 2_000 || undefined);
  const asked = queries();
  const released = performance.now();
  held.release();
  expect(new Set(await Promise.all(readers.map(({ over }) => over)))).toEqual(new Set(["ended"]));
  const took = performance.now() - released;
  await annotate(
    `${asked} queries in 2 s; ${took.toFixed(0)} ms until 20 runs had ended and all readers had the events`,
  );
  // In two seconds, each of the two processes sends four polls, one check of credentials and a few
  // other queries, however many streams are open.
  expect(asked).toBeLessThan(60);
  for (const reader of readers) expect(reader.types.at(-1)).toBe("run.finished");
});

test("a process that drains ends streams of runs of other processes at once, and they resume elsewhere", async () => {
  const leaving = await beckon.another({
    settings: { BECKON_ROLE: "api", BECKON_DRAIN_SECONDS: "20" },
  });
  const {
    held,
    paths: [path = ""],
  } = await executing(1);
  const reader = await open(leaving.url + path);
  await reader.has("run.started");
  const began = performance.now();
  const stopped = leaving.stop();
  expect(await reader.over).toBe("ended");
  await stopped;
  // If the open stream kept the process from exiting, the stop would take the 20 seconds of the
  // drain.
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(reader.types).not.toContain("stream.closed");
  const rest = await open(api.url + path, reader.lastEventId);
  held.release();
  await rest.over;
  expect([...journalEvents(reader), ...journalEvents(rest)]).toEqual(await journalAt(path));
});

test("a process that drains lets streams of its own runs end, or moves run and client to another process", async () => {
  const leaving = await beckon.another({ settings: { BECKON_DRAIN_SECONDS: "1" } });
  const held = await startHeldModel(beckon, manySteps);
  const agent = await beckon.createAgent({ model: held.model, tools: [{ type: "clock" }] });
  const invoked = await openStream(`${leaving.url}/api/public/agents/${agent.id}/invoke`, {
    credential: agent.token,
    body: { input: "Hello" },
  });
  onTestFinished(() => invoked.close());
  await held.reached(1);
  const stopped = leaving.stop();
  expect(await invoked.over).toBe("ended");
  await stopped;
  const path = `${invoked.headers.location}/events`;
  const rest = await open(api.url + path, invoked.lastEventId);
  held.release();
  await rest.over;
  expect([...journalEvents(invoked), ...journalEvents(rest)]).toEqual(await journalAt(path));
  expect(rest.types.at(-1)).toBe("run.finished");
});
