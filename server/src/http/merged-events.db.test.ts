import type { WorkspaceEvent } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { startTestBeckon } from "../../test/beckon.ts";
import { eventually } from "../../test/eventually.ts";
import { expectError } from "../../test/expect-error.ts";
import { startHeldModel } from "../../test/held-model.ts";
import { openStream, type StreamReader } from "../../test/read-stream.ts";

const beckon = await startTestBeckon();
const agent = await beckon.createAgent();

type RunEvent = Extract<WorkspaceEvent, { run_id: string }>;

const run = async () => (await beckon.invoke(agent, "Hello")).body.run_id as string;
const page = async (query: string): Promise<{ data: RunEvent[]; next: string | null }> =>
  (await beckon.call(`/events?${query}`)).body;
/** The events but `run.queued`, which a run has if its server cannot execute it at once. */
const unqueued = (events: readonly RunEvent[]) =>
  events.filter(({ type }) => type !== "run.queued");
const ofRun = (events: readonly RunEvent[], runId: string) =>
  unqueued(events)
    .filter(({ run_id }) => run_id === runId)
    .map(({ type, merged }) => [type, merged?.type]);

/**
 * Waits until an agent's events of this type can be read. Open transactions on the PostgreSQL
 * server, also of other tests, hide them until they end.
 */
const readable = (agentId: string, type: string, count: number) =>
  eventually(`${count} events ${type}`, async () => {
    const { data } = await page(`agent_id=${agentId}&kind=${type}`);
    return data.length >= count || undefined;
  });

test("the end of a run replaces the run's events, and says when the first of them was", async () => {
  const runId = await run();
  const journal: RunEvent[] = (await beckon.call(`/runs/${runId}/events`)).body.data;
  await readable(agent.id, "run.finished", 1);
  const { data } = await page(`agent_id=${agent.id}&merge=true`);
  const [first] = unqueued(journal);
  expect(unqueued(data)).toEqual([
    {
      ...journal.at(-1),
      agent_id: agent.id,
      cursor: expect.any(String),
      merged: { seq: first?.seq, type: first?.type, time: first?.time },
    },
  ]);
  const after = data.at(-1)?.cursor;
  expect((await page(`agent_id=${agent.id}&merge=true&after=${after}`)).data).toEqual([]);
});

test("the start is the first event that the end of a run that was queued replaces", async () => {
  const held = await startHeldModel(beckon);
  const busy = await beckon.createAgent({
    model: held.model,
    limits: { max_concurrent_runs: 1, max_queued_runs: 10 },
  });
  const invoked = [beckon.invoke(busy, "Hello"), beckon.invoke(busy, "Hello")];
  await held.reached(1);
  await readable(busy.id, "run.queued", 1);
  held.release();
  await Promise.all(invoked);
  await readable(busy.id, "run.finished", 2);
  const { data } = await page(`agent_id=${busy.id}&merge=true`);
  const queued = data.filter(({ type }) => type === "run.queued").map(({ run_id }) => run_id);
  expect(queued).not.toEqual([]);
  expect(unqueued(data)).toMatchObject(
    Array.from({ length: 2 }, () => ({
      type: "run.finished",
      merged: { type: "run.started" },
    })),
  );
  for (const { run_id, merged } of data)
    if (merged !== undefined) expect(merged.seq).toBe(queued.includes(run_id) ? 2 : 1);
});

test("the events of a run that has not ended are not replaced", async () => {
  const held = await startHeldModel(beckon);
  const waiting = await beckon.createAgent({ model: held.model });
  const invoked = beckon.invoke(waiting, "Hello");
  await held.reached(1);
  await readable(waiting.id, "run.started", 1);
  const { data } = await page(`agent_id=${waiting.id}&merge=true`);
  expect(unqueued(data).map(({ type, merged }) => [type, merged])).toEqual([
    ["run.started", undefined],
  ]);
  held.release();
  await invoked;
});

test("pages with merged events lead to the end of every run", async () => {
  const other = await beckon.createAgent();
  const runIds: string[] = [];
  for (let count = 0; count < 5; count++)
    runIds.push((await beckon.invoke(other, "Hello")).body.run_id);
  await readable(other.id, "run.finished", 5);
  for (const limit of [1, 2, 4, 7]) {
    const seen: RunEvent[] = [];
    for (let after = ""; ; ) {
      const { data, next } = await page(`agent_id=${other.id}&merge=true&limit=${limit}${after}`);
      seen.push(...data);
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(seen.flatMap(({ type, run_id }) => (type === "run.finished" ? [run_id] : []))).toEqual(
      runIds,
    );
    for (const runId of runIds) {
      const [[type, first] = []] = ofRun(seen, runId);
      expect(type === "run.started" || first === "run.started").toBe(true);
    }
  }
});

test("after a resume between the ends of two runs, the second one comes without its start", async () => {
  const held = await startHeldModel(beckon);
  const other = await beckon.createAgent({ model: held.model });
  const invoked = [beckon.invoke(other, "Hello"), beckon.invoke(other, "Hello")];
  await held.reached(2);
  held.release();
  await Promise.all(invoked);
  await readable(other.id, "run.finished", 2);
  const merged = async (query: string) =>
    unqueued((await page(`agent_id=${other.id}&merge=true${query}`)).data);
  const ends = await merged("");
  expect(ends).toMatchObject(
    Array.from({ length: 2 }, () => ({
      type: "run.finished",
      merged: { type: "run.started" },
    })),
  );
  const resumed = await merged(`&after=${ends[0]?.cursor}`);
  expect(resumed.map(({ id }) => id)).toEqual([ends[1]?.id]);
  expect(resumed[0]?.merged?.type).not.toBe("run.started");
});

test("merged events need the kinds with which runs end", async () => {
  expectError(
    await beckon.call("/events?merge=true&kind=run.started"),
    400,
    "bad_request",
    /merge needs run\.finished, run\.failed, run\.cancelled in kind/,
  );
});

const opened = async (query: string): Promise<StreamReader> => {
  const reader = await openStream(`${beckon.url}/api/public/events${query}`, {
    credential: beckon.key,
  });
  onTestFinished(() => reader.close());
  await reader.has("stream.opened");
  return reader;
};
const eventsOf = (reader: StreamReader) =>
  reader.frames.flatMap(({ data }) =>
    "cursor" in data && "seq" in data ? [data as RunEvent] : [],
  );
const ended = (reader: StreamReader, runIds: readonly string[]) =>
  eventually("the end of all runs", () => {
    const ends = eventsOf(reader).filter(({ type }) => type === "run.finished");
    return runIds.every((runId) => ends.some(({ run_id }) => run_id === runId)) || undefined;
  });

test("a stream with merged events has the start and the end of every run", async () => {
  const reader = await opened("?merge=true&view=summary");
  const runIds = await Promise.all(Array.from({ length: 20 }, run));
  await ended(reader, runIds);
  const seen = eventsOf(reader);
  for (const runId of runIds) {
    const [[type, first] = []] = ofRun(seen, runId);
    expect(type === "run.started" || first === "run.started").toBe(true);
  }
  // An event is merged if a poll reads the start and the end of its run together.
  await eventually("a merged event", async () => {
    await run();
    return eventsOf(reader).some(({ merged }) => merged !== undefined) || undefined;
  });
});

test("a stream has all events although another one accepts merged ones", async () => {
  const [merging, all] = [await opened("?merge=true"), await opened("")];
  const runIds = await Promise.all(Array.from({ length: 20 }, run));
  await Promise.all([ended(merging, runIds), ended(all, runIds)]);
  for (const runId of runIds)
    expect(ofRun(eventsOf(all), runId)).toEqual([
      ["run.started", undefined],
      ["run.step", undefined],
      ["run.finished", undefined],
    ]);
  all.close();
  await eventually("merged events", async () => {
    await run();
    return eventsOf(merging).some(({ merged }) => merged !== undefined) || undefined;
  });
});
