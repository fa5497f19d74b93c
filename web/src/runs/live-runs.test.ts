import { isFinalEvent, type ListedRun, type WorkspaceEvent } from "@beckon/client";
import { endKinds } from "@beckon/contract";
import { expect, test } from "vitest";
import { streamQuery } from "../live/stream-query.ts";
import { addEvents, type LiveRuns, patched } from "./live-runs.ts";

const run = {
  id: "run_1",
  status: "queued",
  started_at: null,
  finished_at: null,
  attempt: 1,
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: null,
  error: null,
} as unknown as ListedRun;
const usage = { input_tokens: 5, output_tokens: 7, cached_input_tokens: 0 };

const event = (seq: number, type: string, data: object = {}, run_id = "run_1") =>
  ({ run_id, seq, type, data, time: `2026-11-03T12:00:0${seq}.000Z` }) as WorkspaceEvent;
const started = event(2, "run.started");
const finished = event(4, "run.finished", { usage, cost_micros: 12 });

test("runs end with the events that the contract names", () => {
  const kinds = streamQuery.kind.split(",");
  expect(kinds.filter((type) => isFinalEvent({ type }))).toEqual(endKinds);
});

test("a row follows its run to the end", () => {
  const live = addEvents(new Map(), [started]);
  expect(patched(run, live)).toMatchObject({ status: "running", started_at: started.time });
  expect(patched(run, addEvents(live, [finished]))).toMatchObject({
    status: "succeeded",
    started_at: started.time,
    finished_at: finished.time,
    usage,
    cost_micros: 12,
  });
});

test("whatever order events arrive in, a run that has ended does not run again", () => {
  const live = addEvents(addEvents(new Map(), [finished]), [started, finished]);
  expect(patched(run, live)).toMatchObject({ status: "succeeded", started_at: started.time });
  expect(live.get("run_1")).toHaveLength(2);
});

test("a row of a run that was released to the queue is queued", () => {
  const live = addEvents(new Map(), [started, event(3, "run.queued")]);
  expect(patched(run, live).status).toBe("queued");
});

test("a row of a run that a limit holds after its start waits, and has not started", () => {
  const live = addEvents(new Map(), [started, event(3, "run.waiting")]);
  const held = { status: "waiting", started_at: null };
  for (const status of ["queued", "waiting"])
    expect(patched({ ...run, status }, live)).toMatchObject(held);
});

test("a row that was read after the end stays as it was read", () => {
  const ended = { ...run, status: "cancelled", finished_at: "2026-11-03T12:00:03.000Z" };
  expect(patched(ended, addEvents(new Map(), [started]))).toBe(ended);
});

test("events that change no row keep the state, and rows without events are the same", () => {
  const live = addEvents(new Map(), [event(3, "run.step")]);
  expect(addEvents(live, [event(4, "run.tool_call")])).toBe(live);
  expect(patched(run, live)).toBe(run);
});

test("the events of the newest 2,000 runs are kept", () => {
  const many = Array.from({ length: 2_100 }, (_, index) =>
    event(1, "run.started", {}, `run_${index}`),
  );
  const live = addEvents(addEvents(new Map(), many), [event(2, "run.finished", {}, "run_100")]);
  expect(live.size).toBe(2_000);
  expect(live.has("run_99")).toBe(false);
  expect(live.get("run_100")).toHaveLength(2);
});

test("a run that was shown as ended does not run again, however many events follow", () => {
  const running = { ...run, status: "running" };
  const other = { ...run, id: "run_2", finished_at: "2026-11-03T12:00:03.000Z" };
  const ends = [finished, event(4, "run.finished", {}, "run_2")];
  const others = Array.from({ length: 2_100 }, (_, index) =>
    event(1, "run.started", {}, `run_other_${index}`),
  );
  const live = [ends, others].reduce(
    (before, events) => addEvents(before, events, [running, other]),
    new Map() as LiveRuns,
  );
  expect(patched(running, live).status).toBe("succeeded");
  // The list has read the end of the other run, so it needs no events of it.
  expect(live.has("run_2")).toBe(false);
  expect(live.size).toBe(2_000);
});
