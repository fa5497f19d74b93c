import type { JournalEvent, Run, WatchedEvent } from "@beckon/client";
import { describe, expect, test } from "vitest";
import { summaryCases } from "../../../../../contract/test/summary-cases.ts";
import { applyOutput } from "../../model-output.ts";
import { newerRun, patchRun } from "../../patch-run.ts";
import { append, newEntries, summarize, usageSoFar } from "./entries.ts";

const time = "2026-11-03T14:00:01.000Z";
const usage = { input_tokens: 3, output_tokens: 2, cached_input_tokens: 1 };

function entry(seq: number, type: JournalEvent["type"], data = {}): JournalEvent {
  return { id: `evt_${seq}`, run_id: "run_1", seq, type, version: 1, time, data } as JournalEvent;
}

const queued: Run = {
  id: "run_1",
  agent_id: "agt_1",
  agent_version: 1,
  status: "queued",
  source: "invoke",
  trigger_id: null,
  retry_of: null,
  external_id: null,
  tags: [],
  input: "Hello",
  output: null,
  error: null,
  usage: { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0 },
  cost_micros: null,
  limit: null,
  attempt: 1,
  created_at: "2026-11-03T14:00:00.000Z",
  started_at: null,
  finished_at: null,
};

describe("the run", () => {
  test("follows its journal", () => {
    const running = patchRun(queued, entry(2, "run.started"));
    expect(running).toMatchObject({ status: "running", started_at: time });
    const resumed = patchRun(running, entry(3, "run.resumed", { attempt: 2 }));
    expect(resumed).toMatchObject({ attempt: 2, started_at: time });
    const data = { output: "Hi", usage, cost_micros: 12 };
    expect(patchRun(resumed, entry(4, "run.finished", data))).toMatchObject({
      status: "succeeded",
      output: "Hi",
      usage,
      cost_micros: 12,
      finished_at: time,
    });
  });

  test("keeps its final state", () => {
    const error = { code: "cancelled", message: "The run was cancelled." };
    const cancelled = patchRun(queued, entry(2, "run.cancelled", { error, usage }));
    expect(cancelled).toMatchObject({ status: "cancelled", error, finished_at: time });
    for (const type of ["run.started", "run.resumed", "run.finished", "run.failed"] as const)
      expect(patchRun(cancelled, entry(3, type, { attempt: 2 }))).toBe(cancelled);
    expect(newerRun(cancelled, queued)).toBe(cancelled);
  });

  test("an end whose data is an artifact still ends it", () => {
    const large = entry(2, "run.finished", { artifact_id: "art_1", bytes: 70_000 });
    expect(patchRun(queued, large)).toMatchObject({ status: "succeeded", output: null });
  });

  test("a response that is older than what is known loses", () => {
    const second = { ...queued, status: "running", attempt: 2 };
    expect(newerRun(second, queued)).toBe(second);
    expect(newerRun(queued, second)).toBe(second);
    expect(newerRun(undefined, queued)).toBe(queued);
    expect(newerRun({ ...second, id: "run_2" }, queued)).toBe(queued);
  });
});

describe("the journal", () => {
  const known = { events: [entry(1, "run.started"), entry(2, "run.step")], isComplete: true };

  test("gets each entry once; a lower seq loses", () => {
    const events: WatchedEvent[] = [
      entry(2, "run.step"),
      entry(3, "run.tool_call"),
      entry(3, "run.tool_call"),
      { type: "run.output.start", run_id: "run_1", data: { step: 2, attempt: 1 } },
      entry(4, "run.tool_result"),
    ];
    const fresh = newEntries(known, events);
    expect(fresh.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(append(known, fresh).events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(append(known, [])).toBe(known);
  });

  test("gets nothing after its end", () => {
    const ended = append(known, [entry(3, "run.finished")]);
    expect(newEntries(ended, [entry(4, "run.step")])).toEqual([]);
  });

  test.each(summaryCases)("keeps %s as the server's summary is", (_, data, expected) => {
    const summary = summarize(entry(1, "run.step", data));
    expect(summary.data).toEqual(expected);
    // A stream can also send summaries.
    expect(summarize(summary)).toEqual(summary);
  });

  test("adds up the tokens of its model calls", () => {
    const steps = [entry(1, "run.step", { usage }), entry(2, "run.step_lost", { usage })];
    // The final event has the sum, which must not be added to the calls.
    const events = [...steps, entry(3, "run.finished", { usage: { ...usage, input_tokens: 6 } })];
    expect(usageSoFar({ events, isComplete: true })).toEqual({
      input_tokens: 6,
      output_tokens: 4,
      cached_input_tokens: 2,
    });
  });

  test("the tokens so far are estimated if those of one call are", () => {
    const estimated = { ...usage, estimated: true };
    const events = [
      entry(1, "run.step_lost", { usage: estimated }),
      entry(2, "run.step", { usage }),
    ];
    expect(usageSoFar({ events, isComplete: true })).toMatchObject({ estimated: true });
  });
});

describe("output of the model", () => {
  const begin = (step: number, attempt: number): WatchedEvent => ({
    type: "run.output.start",
    run_id: "run_1",
    data: { step, attempt },
  });
  const delta = (
    step: number,
    text: string,
    kind: "text" | "reasoning" = "text",
  ): WatchedEvent => ({
    type: "run.output.delta",
    run_id: "run_1",
    data: { step, kind, text },
  });
  const after = (...events: WatchedEvent[]) => events.reduce(applyOutput, undefined);

  test("is put together from its pieces, reasoning apart", () => {
    expect(
      after(begin(1, 1), delta(1, "Hm", "reasoning"), delta(1, "Hel"), delta(1, "lo")),
    ).toEqual({
      step: 1,
      attempt: 1,
      text: "Hello",
      reasoning: "Hm",
    });
  });

  test("of an earlier attempt is discarded", () => {
    expect(after(begin(1, 1), delta(1, "Hel"), begin(1, 2), delta(1, "Hi"))?.text).toBe("Hi");
  });

  test("without its beginning is not shown", () => {
    expect(after(delta(2, "lo"))).toBeUndefined();
    expect(after(begin(1, 1), delta(2, "lo"))?.text).toBe("");
  });

  test("gives way to the journal", () => {
    expect(after(begin(1, 1), delta(1, "Hi"), entry(2, "run.step"))).toBeUndefined();
    expect(after(begin(1, 1), delta(1, "Hi"), entry(2, "run.tool_result"))?.text).toBe("Hi");
  });
});
