import type { ListedRun, WorkspaceEvent } from "@beckon/client";
import { expect, test } from "vitest";
import {
  addEvents,
  countMissed,
  dropEvents,
  emptyFeed,
  type FeedFilter,
  markRead,
  readFeed,
  readPausedFeed,
  shownLines,
} from "./feed.ts";

const event = (type: string, time: string, more: object = {}) =>
  ({
    id: time,
    run_id: "run_9",
    agent_id: "agt_1",
    seq: 4,
    type,
    time,
    data: {},
    ...more,
  }) as WorkspaceEvent;

const run = {
  id: "run_9",
  agent_id: "agt_1",
  status: "running",
  created_at: "2026-11-03T12:00:00.000Z",
  started_at: "2026-11-03T12:00:00.000Z",
  finished_at: null,
  error: null,
  input: "Hello\nthere",
} as ListedRun;

const readFrom = (runs: readonly ListedRun[], filter: FeedFilter = "all") =>
  readFeed(emptyFeed, { runs, filter, readAt: 1 });

/** Returns what the feed shows after a list of runs was read and these events have arrived. */
const feedOf = (
  runs: readonly ListedRun[],
  events: readonly WorkspaceEvent[],
  filter?: FeedFilter,
) => shownLines(addEvents(readFrom(runs, filter), events));

test("the position of a line does not change while its run continues", () => {
  const other = { ...run, id: "run_a", created_at: "2026-11-03T12:00:01.000Z" };
  const lines = feedOf(
    [other, run],
    [event("run.failed", "2026-11-03T12:00:09.000Z", { data: { error: { message: "Broken." } } })],
  );
  expect(lines).toMatchObject([
    { key: "run_a", status: "running", input: "Hello there" },
    { key: "run_9", status: "failed", error: "Broken.", startedAt: Date.parse(run.created_at) },
  ]);
});

test("a run of the feed that has ended does not run again", () => {
  const ended = { ...run, status: "succeeded", finished_at: "2026-11-03T12:00:05.000Z" } as const;
  const late = event("run.started", "2026-11-03T12:00:02.000Z", { seq: 2 });
  expect(feedOf([ended], [late])).toMatchObject([{ status: "succeeded" }]);
});

test("a run of the feed that is queued or running does not wait again", () => {
  const late = event("run.waiting", "2026-11-03T12:00:00.000Z", { seq: 1 });
  for (const status of ["queued", "running"] as const)
    expect(feedOf([{ ...run, status }], [late])).toMatchObject([{ status }]);
});

test("a run of the feed that its process releases is queued, and running once it is resumed", () => {
  const released = event("run.queued", "2026-11-03T12:00:02.000Z", { seq: 3 });
  const resumed = event("run.resumed", "2026-11-03T12:00:03.000Z", { seq: 4 });
  expect(feedOf([run], [released])).toMatchObject([{ status: "queued" }]);
  expect(feedOf([run], [released, resumed])).toMatchObject([{ status: "running" }]);
});

test("a run that a limit holds after its start starts when it is resumed", () => {
  const started = event("run.started", "2026-11-03T12:00:02.000Z", { seq: 2 });
  const held = event("run.waiting", "2026-11-03T12:00:03.000Z", { seq: 3 });
  const queued = event("run.queued", "2026-11-04T00:00:01.000Z", { seq: 4 });
  const resumed = event("run.resumed", "2026-11-04T00:00:02.000Z", { seq: 5 });
  const finished = event("run.finished", "2026-11-04T00:00:05.000Z", { seq: 6 });
  const times = { startedAt: Date.parse(resumed.time), endedAt: Date.parse(finished.time) };
  expect(feedOf([], [started, held, queued, resumed, finished])).toMatchObject([times]);
  const waiting = { ...run, status: "waiting", started_at: null } as const;
  expect(feedOf([waiting], [queued, resumed, finished])).toMatchObject([times]);
});

test("a run whose start the feed does not know does not start when it is resumed", () => {
  const released = event("run.queued", "2026-11-03T12:00:02.000Z", { seq: 3 });
  const resumed = event("run.resumed", "2026-11-03T12:00:03.000Z", { seq: 4 });
  expect(feedOf([], [released, resumed])).toMatchObject([{ startedAt: undefined }]);
});

test("a list that is read after a release still shows the run as queued", () => {
  const events = [
    event("run.started", "2026-11-03T12:00:01.000Z", { seq: 2 }),
    event("run.queued", "2026-11-03T12:00:02.000Z", { seq: 3 }),
  ];
  const feed = addEvents(readFrom([run]), events);
  const again = { runs: [{ ...run, status: "queued" }], filter: "all", readAt: 2 } as const;
  expect(shownLines(readFeed(feed, again))).toMatchObject([{ status: "queued" }]);
});

test("the feed takes new runs and pauses of agents, and shows what its filter accepts", () => {
  const events = [
    event("run.queued", "2026-11-03T12:00:02.000Z", { seq: 1, run_id: "run_b" }),
    event("agent.paused", "2026-11-03T12:00:03.000Z", {
      run_id: null,
      seq: null,
      data: { reason: "Stop" },
    }),
    event("run.failed", "2026-11-03T12:00:04.000Z", { run_id: "run_c" }),
  ];
  const lines = feedOf([run], events);
  expect(lines.map(({ kind }) => kind)).toEqual(["run", "agent", "run", "run"]);
  expect(lines[1]).toMatchObject({ isPaused: true, reason: "Stop" });
  expect(feedOf([run], events, "failed")).toMatchObject([{ key: "run_c" }]);
  expect(feedOf([run], events, "running")).toMatchObject([{ key: "run_9" }]);
});

test("the feed has 100 lines", () => {
  const many = Array.from({ length: 120 }, (_, index) => ({ ...run, id: `run_${index}` }));
  expect(feedOf(many, [])).toHaveLength(100);
});

/** Batches of events of 1,000 runs that start and succeed. */
const manyEvents = Array.from({ length: 20 }, (_, batch) =>
  Array.from({ length: 50 }, (_, index) => `run_${batch}_${index}`).flatMap((id) => [
    event("run.started", "2026-11-03T12:00:08.000Z", { run_id: id }),
    event("run.finished", "2026-11-03T12:00:09.000Z", { run_id: id }),
  ]),
);

test("many later events change nothing about the runs that the feed has shown", () => {
  const started = event("run.started", "2026-11-03T12:00:03.000Z", { run_id: "run_b" });
  const failed = event("run.failed", "2026-11-03T12:00:04.000Z", { run_id: "run_b" });
  const ended = event("run.finished", "2026-11-03T12:00:05.000Z", { run_id: "run_9" });
  const after = (filter: FeedFilter, ...events: readonly WorkspaceEvent[]) =>
    shownLines([events, ...manyEvents].reduce(addEvents, readFrom([run], filter)));
  expect(after("running", ended)).toEqual([]);
  expect(after("running", started)).toMatchObject([{ key: "run_b" }, { key: "run_9" }]);
  expect(after("failed", started, failed)).toMatchObject([
    { key: "run_b", startedAt: Date.parse(started.time), endedAt: Date.parse(failed.time) },
  ]);
});

test("a run that starts earlier than it fails is shown, however many have failed before", () => {
  const batches = Array.from({ length: 450 }, (_, index) =>
    ["run.started", "run.failed"].map((type) => [
      event(type, new Date(index * 1_000).toISOString(), { run_id: `run_${index}` }),
    ]),
  ).flat();
  const [newest] = shownLines(batches.reduce(addEvents, readFrom([], "failed")));
  expect(newest).toMatchObject({ key: "run_449" });
});

test("a list that is read again replaces the lines, and gets the newest events", () => {
  const ended = event("run.finished", "2026-11-03T12:00:05.000Z", { run_id: "run_9" });
  const feed = addEvents(readFrom([{ ...run, id: "run_gone" }, run], "running"), [ended]);
  expect(shownLines(feed)).toMatchObject([{ key: "run_gone" }]);
  const again = { runs: [{ ...run, id: "run_new" }, run], filter: "running", readAt: 2 } as const;
  expect(shownLines(readFeed(feed, again))).toMatchObject([{ key: "run_new" }]);
});

/**
 * Returns the ids of the shown runs after `run_9` has ended, the list of runs was requested,
 * `run_b` has ended, and the list was read, which lacks both.
 */
function shownAfter(read: { readonly isWhole: boolean; readonly older: string }): string[] {
  const ended = event("run.finished", "2026-11-03T12:00:05.000Z");
  const later = event("run.finished", "2026-11-03T12:00:06.000Z", { run_id: "run_b" });
  const requested = markRead(addEvents(readFrom([run]), [ended]), true);
  const runs = [{ ...run, id: read.older }];
  const again = { runs, filter: "all", readAt: 2, isWhole: read.isWhole } as const;
  const keys = shownLines(readFeed(addEvents(requested, [later]), again)).map(({ key }) => key);
  return keys.filter((key) => key !== read.older);
}

test("a run that had ended before a list without it was requested was deleted", () => {
  expect(shownAfter({ isWhole: true, older: "run_a" })).toEqual(["run_b"]);
  expect(shownAfter({ isWhole: false, older: "run_1" })).toEqual(["run_b"]);
});

test("a run that can be on the next page of the list stays in the feed", () => {
  expect(shownAfter({ isWhole: false, older: "run_a" })).toEqual(["run_b", "run_9"]);
});

test("a list for another filter, which can come from the cache, deletes no runs", () => {
  const failed = event("run.failed", "2026-11-03T12:00:05.000Z");
  const feed = markRead(addEvents(readFrom([run]), [failed]), true);
  const cached = { runs: [], filter: "failed", readAt: 2, isWhole: true } as const;
  expect(shownLines(readFeed(feed, cached))).toMatchObject([{ key: "run_9" }]);
});

test("a list of running runs deletes no runs that have ended", () => {
  const failed = event("run.failed", "2026-11-03T12:00:05.000Z");
  const feed = markRead(addEvents(readFrom([], "running"), [failed]), true);
  const running = { runs: [], filter: "running", readAt: 2, isWhole: true } as const;
  const read = readFeed(readFeed(feed, running), { ...running, filter: "failed" });
  expect(shownLines(read)).toMatchObject([{ key: "run_9" }]);
});

test("a paused feed keeps its lines when the list of runs is read again", () => {
  const paused = readFrom([run]);
  const runs = [{ ...run, id: "run_new" }];
  expect(readPausedFeed(paused, { runs, filter: "all", readAt: 2 })).toBe(paused);
});

test("a paused feed shows the first list that is read, also for another filter", () => {
  const first = { runs: [run], filter: "all", readAt: 1 } as const;
  expect(shownLines(readPausedFeed(emptyFeed, first))).toMatchObject([{ key: "run_9" }]);
  const cached = { runs: [], filter: "running", readAt: 0 } as const;
  const loading = readPausedFeed(readFrom([run]), cached);
  expect(shownLines(loading)).toEqual([]);
  const read = readPausedFeed(loading, { ...cached, runs: [run], readAt: 2 });
  expect(shownLines(read)).toMatchObject([{ key: "run_9" }]);
});

test("a list that is read after a reset gets no events from before", () => {
  const started = event("run.started", "2026-11-03T12:00:03.000Z", { run_id: "run_b" });
  const later = event("run.started", "2026-11-03T13:00:00.000Z", { run_id: "run_c" });
  const feed = addEvents(dropEvents(addEvents(readFrom([run], "running"), [started])), [later]);
  const again = { runs: [run], filter: "running", readAt: 2 } as const;
  expect(shownLines(readFeed(feed, again))).toMatchObject([{ key: "run_c" }, { key: "run_9" }]);
});

test("a paused feed counts the lines that are new or in another state, not the events", () => {
  const paused = readFrom([run]);
  const events = ["run.queued", "run.started", "run.resumed"].map((type, index) =>
    event(type, `2026-11-03T12:00:0${index}.000Z`, { run_id: "run_b", seq: index + 1 }),
  );
  const feed = addEvents(paused, events);
  expect([countMissed(paused, paused), countMissed(feed, paused)]).toEqual([0, 1]);
  const failed = event("run.failed", "2026-11-03T12:00:09.000Z");
  expect(countMissed(addEvents(feed, [failed]), paused)).toBe(2);
});
