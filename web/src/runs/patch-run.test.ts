import type { JournalEvent, Run } from "@beckon/client";
import { expect, test } from "vitest";
import { lacksState, patchRun } from "./patch-run.ts";

const run = { status: "waiting", started_at: null, finished_at: null } as Run;
const event = (seq: number, type: JournalEvent["type"]) =>
  ({ type, seq, time: "2026-11-03T14:00:00.000Z", data: {} }) as JournalEvent;

test("a held run is queued when it is released", () => {
  expect(patchRun(run, event(1, "run.waiting")).status).toBe("waiting");
  expect(patchRun(run, event(2, "run.queued")).status).toBe("queued");
});

test("a run that its process releases is queued until another one resumes it", () => {
  const running = patchRun({ ...run, status: "queued" }, event(2, "run.started"));
  const released = patchRun(running, event(3, "run.queued"));
  expect(released.status).toBe("queued");
  expect(patchRun(released, event(4, "run.resumed")).status).toBe("running");
});

test("a run that a limit holds after its start waits, and has not started, until it is resumed", () => {
  const running = patchRun({ ...run, status: "queued" }, event(2, "run.started"));
  const held = patchRun(running, event(3, "run.waiting"));
  expect(held).toMatchObject({ status: "waiting", started_at: null });
  const resumed = patchRun(patchRun(held, event(4, "run.queued")), event(5, "run.resumed"));
  expect(resumed).toMatchObject({ status: "running", started_at: event(5, "run.resumed").time });
});

test("the first event of a run does not put it back into the queue", () => {
  expect(patchRun({ ...run, status: "running" }, event(1, "run.queued")).status).toBe("running");
});

test("a run lacks the state of its journal if it was read before the last move", () => {
  const queued = { ...run, status: "queued", attempt: 1 };
  const journal = [event(1, "run.queued"), event(2, "run.started"), event(3, "run.step")];
  expect(lacksState(queued, journal)).toBe(true);
  expect(lacksState({ ...queued, status: "running" }, journal)).toBe(false);
  expect(lacksState(queued, journal.slice(0, 1))).toBe(false);
  const ended = { ...queued, status: "succeeded", finished_at: event(4, "run.finished").time };
  expect(lacksState(ended, journal)).toBe(false);
});
