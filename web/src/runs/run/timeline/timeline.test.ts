import type { JournalEvent } from "@beckon/client";
import { describe, expect, test } from "vitest";
import { durationOf } from "./row-words.ts";
import { createScale, idleTimes, tickLabel } from "./scale.ts";
import { layOut, nextFailed, rowOf } from "./timeline.ts";

const start = Date.parse("2026-11-03T14:00:00.000Z");
const run = { created_at: new Date(start).toISOString(), started_at: null, finished_at: null };

/** Journal entries `[ms after the start, type, data]`. */
function journal(...entries: [number, JournalEvent["type"], Record<string, unknown>?][]) {
  return entries.map(
    ([ms, type, data = {}], index) =>
      ({
        id: `evt_${index + 1}`,
        run_id: "run_1",
        seq: index + 1,
        type,
        version: 1,
        time: new Date(start + ms).toISOString(),
        data,
      }) as JournalEvent,
  );
}

/** The rows as `[name, from, to, kind]`, in ms after the start. */
function shown(events: readonly JournalEvent[]) {
  return layOut(run, events).rows.map(({ name, start: from, end, kind }) => [
    name,
    from - start,
    end === undefined ? undefined : end - start,
    kind,
  ]);
}

describe("rows", () => {
  test("a bar goes from the time less the duration to the time", () => {
    const events = journal(
      [0, "run.started"],
      [3_410, "run.step", { step: 1, duration_ms: 3_400 }],
      [3_411, "run.tool_call", { call_id: "c1", tool: "orders.get" }],
      [4_900, "run.tool_result", { call_id: "c1", outcome: "ok", duration_ms: 1_460 }],
      [6_000, "run.step", { step: 2, duration_ms: 1_000 }],
      [6_000, "run.finished", { output_bytes: 5 }],
    );
    expect(shown(events)).toEqual([
      ["Model call 1", 10, 3_410, "model"],
      ["orders.get", 3_440, 4_900, "tool"],
      ["Model call 2", 5_000, 6_000, "model"],
    ]);
    expect(layOut(run, events).rows.map(({ level }) => level)).toEqual([1, 2, 1]);
  });

  test("a held run waits until it is released or cancelled", () => {
    expect(shown(journal([0, "run.waiting"], [500, "run.queued"], [620, "run.started"]))).toEqual([
      ["Held", 0, 500, "held"],
      ["Queued", 500, 620, "queued"],
      ["Model call 1", 620, undefined, "model"],
    ]);
    expect(shown(journal([0, "run.waiting"], [900, "run.cancelled"])).at(0)).toEqual([
      "Held",
      0,
      900,
      "held",
    ]);
  });

  test("a queued run waits until it starts", () => {
    expect(shown(journal([0, "run.queued"]))).toEqual([["Queued", 0, undefined, "queued"]]);
    expect(shown(journal([0, "run.queued"], [120, "run.started"]))).toEqual([
      ["Queued", 0, 120, "queued"],
      ["Model call 1", 120, undefined, "model"],
    ]);
  });

  test("while no tool works, the current model call is the last row", () => {
    const called = journal(
      [0, "run.started"],
      [900, "run.step", { step: 1, duration_ms: 900 }],
      [900, "run.tool_call", { call_id: "c1", tool: "a" }],
      [900, "run.tool_call", { call_id: "c2", tool: "b" }],
    );
    expect(shown(called).slice(1)).toEqual([
      ["a", 900, undefined, "tool"],
      ["b", 900, undefined, "tool"],
    ]);
    const answered = [
      ...called,
      { ...journal([1_000, "run.tool_result", { call_id: "c2" }])[0], seq: 5 },
      { ...journal([1_100, "run.tool_result", { call_id: "c1" }])[0], seq: 6 },
    ] as JournalEvent[];
    expect(layOut(run, answered).rows.at(-1)).toMatchObject({ key: "now", name: "Model call 2" });
  });

  test("a lost process shows what was lost and the attempt that resumed", () => {
    const events = journal(
      [0, "run.started"],
      [1_000, "run.step", { step: 1, duration_ms: 1_000 }],
      [1_000, "run.tool_call", { call_id: "c1", tool: "refund.create" }],
      [9_000, "run.resumed", { attempt: 2 }],
      [9_001, "run.tool_result", { call_id: "c1", outcome: "unknown", duration_ms: 0 }],
      [9_002, "run.step_lost", { step: 2, reason: "process_lost" }],
    );
    const { rows } = layOut(run, events);
    expect(shown(events).slice(1, 4)).toEqual([
      ["refund.create", 1_000, 9_001, "lost"],
      ["Resumed, attempt 2", 1_000, 9_000, "resumed"],
      ["Model call 2", 1_000, 9_000, "lost"],
    ]);
    expect(rows[1]).toMatchObject({ isFailed: true, isMeasured: false, note: "outcome unknown" });
  });

  test("a call that a stopping process aborted ends when the run was released", () => {
    const events = journal(
      [0, "run.started"],
      [1_000, "run.resumed", { attempt: 2 }],
      [2_000, "run.step", { step: 1, duration_ms: 1_000 }],
      [9_000, "run.step_lost", { step: 2, reason: "process_lost" }],
      [9_000, "run.queued"],
      [9_500, "run.resumed", { attempt: 2 }],
    );
    expect(shown(events)).toContainEqual(["Model call 2", 2_000, 9_000, "lost"]);
  });

  test("a call that a stop aborted after the run was resumed is not drawn over the wait", () => {
    const events = journal(
      [0, "run.started"],
      [1_000, "run.step_lost", { step: 1, reason: "process_lost" }],
      [1_000, "run.queued"],
      [5_000, "run.resumed", { attempt: 2 }],
      [9_000, "run.step_lost", { step: 1, reason: "process_lost" }],
      [9_000, "run.queued"],
    );
    expect(shown(events).filter(([, , , kind]) => kind === "lost")).toEqual([
      ["Model call 1", 0, 1_000, "lost"],
      ["Model call 1", 5_000, 9_000, "lost"],
    ]);
  });

  test("a run that a stopping process released is queued until it is resumed", () => {
    const events = journal(
      [0, "run.started"],
      [1_000, "run.step_lost", { step: 1, reason: "process_lost" }],
      [1_000, "run.queued"],
      [5_000, "run.resumed", { attempt: 1 }],
    );
    expect(shown(events).slice(1)).toEqual([
      ["Queued", 1_000, 5_000, "queued"],
      ["Resumed, attempt 1", 5_000, 5_000, "resumed"],
      ["Model call 1", 5_000, undefined, "model"],
    ]);
  });

  test("a call that was rejected is an instant, and one that failed has its duration", () => {
    const { rows } = layOut(
      run,
      journal(
        [10, "run.tool_result", { call_id: "c1", tool: "a", outcome: "refused", duration_ms: 0 }],
        [20, "run.tool_call", { call_id: "c2", tool: "b" }],
        [80, "run.tool_result", { call_id: "c2", outcome: "error", duration_ms: 60 }],
      ),
    );
    expect(rows).toMatchObject([
      { name: "a", kind: "rejected", isFailed: true, note: "rejected" },
      { name: "b", kind: "tool", isFailed: true, note: "failed" },
    ]);
    expect(rows.map((row) => durationOf(row, 0))).toEqual(["", "60 ms"]);
  });

  test("a run that failed ends with the row that failed", () => {
    const failed = (code: string) =>
      layOut(run, journal([0, "run.started"], [50, "run.failed", { error: { code } }])).rows.at(-1);
    expect(failed("model_error")).toMatchObject({ name: "Model call 1", isFailed: true });
    expect(failed("step_limit")).toMatchObject({ name: "Failed: step limit reached", kind: "end" });
    expect(failed("constructor")).toMatchObject({ isFailed: true });
  });

  test("a run that failed because of a model's answer ends with the call of that answer", () => {
    const events = journal(
      [0, "run.started"],
      [900, "run.step", { step: 1, duration_ms: 900, finish_reason: "length" }],
      [900, "run.failed", { error: { code: "model_error" } }],
    );
    const { rows } = layOut(run, events);
    expect(rows).toMatchObject([
      { name: "Model call 1", end: start + 900, seqs: [2, 3], isFailed: true, note: "failed" },
    ]);
    expect(rowOf(rows, 3)).toBe(rows[0]);
  });

  test.each([
    ["model_error", "Model call 2"],
    ["step_limit", "Failed: step limit reached"],
    ["deadline_exceeded", "Failed: not finished in time"],
    ["interrupted", "Failed: interrupted"],
  ])("a run that failed with %s after its tool calls ends with a row of its own", (code, name) => {
    const events = journal(
      [0, "run.started"],
      [900, "run.step", { step: 1, duration_ms: 900 }],
      [900, "run.tool_call", { call_id: "c1", tool: "a" }],
      [950, "run.tool_result", { call_id: "c1", outcome: "ok" }],
      [990, "run.failed", { error: { code } }],
    );
    expect(layOut(run, events).rows).toMatchObject([
      { name: "Model call 1", isFailed: false },
      { name: "a", isFailed: false },
      { name, seqs: [5], isFailed: true },
    ]);
  });

  test("what has no result when the run ends is unknown", () => {
    const events = journal(
      [0, "run.started"],
      [10, "run.tool_call", { call_id: "c1", tool: "a" }],
      [80, "run.cancelled"],
    );
    expect(shown(events)).toEqual([
      ["a", 10, 80, "lost"],
      ["Cancelled", 80, 80, "end"],
    ]);
  });

  test("an entry is found in the row that shows it, and the next failure after a row", () => {
    const { rows } = layOut(
      run,
      journal(
        [0, "run.tool_result", { call_id: "c1", tool: "a", outcome: "refused" }],
        [1, "run.step", { step: 1 }],
        [2, "run.tool_call", { call_id: "c2", tool: "b" }],
        [3, "run.tool_result", { call_id: "c2", outcome: "error" }],
      ),
    );
    expect(rowOf(rows, 4)?.name).toBe("b");
    expect(rowOf(rows, 9)).toBeUndefined();
    expect([nextFailed(rows, 0), nextFailed(rows, 2), nextFailed([], -1)]).toEqual([
      2,
      0,
      undefined,
    ]);
  });

  test("large steps and results of parallel calls have their own times and outcomes", () => {
    const large = { artifact_id: "art_1", bytes: 70_000 };
    const { rows } = layOut(
      run,
      journal(
        [900, "run.step", { step: 1, duration_ms: 800, retries: 1, ...large }],
        [900, "run.tool_call", { call_id: "c1", tool: "a" }],
        [900, "run.tool_call", { call_id: "c2", tool: "b" }],
        [950, "run.tool_result", { call_id: "c2", outcome: "ok", duration_ms: 40, ...large }],
        [990, "run.tool_result", { call_id: "c1", outcome: "error", duration_ms: 90, ...large }],
      ),
    );
    expect(rows.slice(0, 3)).toMatchObject([
      { start: start + 100, end: start + 900, note: "1 retry" },
      { name: "a", seqs: [2, 5], start: start + 900, end: start + 990, isFailed: true },
      { name: "b", seqs: [3, 4], start: start + 910, end: start + 950, isFailed: false },
    ]);
  });

  test("a result whose data is an artifact belongs to the call that has no other", () => {
    const { rows } = layOut(
      run,
      journal(
        [0, "run.tool_call", { call_id: "c2", tool: "b" }],
        [0, "run.tool_call", { call_id: "c1", tool: "a" }],
        [50, "run.tool_result", { artifact_id: "art_1", bytes: 70_000 }],
        [90, "run.tool_result", { call_id: "c2", outcome: "ok", duration_ms: 90 }],
      ),
    );
    expect(rows.slice(0, 2)).toMatchObject([
      { name: "b", seqs: [1, 4], start, end: start + 90 },
      { name: "a", seqs: [2, 3], start, end: start + 50, isFailed: false, note: undefined },
    ]);
  });

  test("clocks that differ give no bar before the start", () => {
    expect(shown(journal([-500, "run.step", { step: 1, duration_ms: 200 }]))[0]).toEqual([
      "Model call 1",
      0,
      0,
      "model",
    ]);
  });
});

describe("scale", () => {
  test("times are spread evenly, and clamped", () => {
    const { position, ticks } = createScale({ start, end: start + 10_000 });
    expect([-5, 0, 2_500, 10_000, 99_999].map((ms) => position(start + ms))).toEqual([
      0, 0, 0.25, 1, 1,
    ]);
    expect(ticks.map(({ at, label }) => [at, label])).toEqual([
      [0, "0"],
      [0.2, "2 s"],
      [0.4, "4 s"],
      [0.6, "6 s"],
      [0.8, "8 s"],
    ]);
  });

  test("long idle times can be folded, short ones stay", () => {
    const timeline = layOut(
      run,
      journal(
        [0, "run.queued"],
        [3_600_000, "run.started"],
        [3_601_000, "run.step", { step: 1, duration_ms: 1_000 }],
        [3_601_500, "run.step", { step: 2, duration_ms: 400 }],
        [3_601_500, "run.finished"],
      ),
    );
    const end = start + 3_601_500;
    const idle = idleTimes(timeline, end);
    expect(idle).toEqual([{ start, end: start + 3_600_000 }]);
    const { position, folds, ticks } = createScale({ start, end }, idle);
    expect(position(start + 3_600_000)).toBeCloseTo(0.04);
    expect(position(end)).toBe(1);
    expect(folds).toEqual([{ at: expect.closeTo(0.02), ms: 3_600_000 }]);
    expect(ticks.every(({ at }) => at >= 0 && at <= 1)).toBe(true);
  });

  test("after a folded idle time, no two ticks have the same label", () => {
    const end = start + 66_000;
    const { ticks } = createScale({ start, end }, [{ start, end: start + 65_000 }]);
    expect(ticks.map(({ label }) => label)).toEqual(["0", "1 m 5.2 s", "1 m 5.6 s"]);
  });

  test("a run without duration has a scale", () => {
    const { position, ticks } = createScale({ start, end: start });
    expect(position(start)).toBe(0);
    expect(ticks.map(({ label }) => label)).toEqual(["0"]);
  });

  test.each([
    [500, "500 ms"],
    [90_000, "1 m 30 s"],
    [7_200_000, "2 h"],
    [172_800_000, "2 d"],
  ])("%s ms reads %s", (ms, label) => {
    expect(tickLabel(ms)).toBe(label);
  });
});
