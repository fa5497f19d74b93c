import type { JournalEvent, Run } from "@beckon/client";
import { expect, test } from "vitest";
import { costOfRun, costOfStep } from "./cost.ts";

const step = (data: object, type: JournalEvent["type"] = "run.step") =>
  ({
    id: "evt_1",
    run_id: "run_1",
    seq: 2,
    type,
    version: 1,
    time: "2026-11-03T14:00:01.000Z",
    data: { step: 1, model: "openai/gpt", ...data },
  }) as JournalEvent;
const run = (more: Partial<Run>) =>
  ({ status: "running", finished_at: null, cost_micros: null, ...more }) as Run;
const ended = (cost_micros: number | null) =>
  run({ status: "succeeded", finished_at: "2026-11-03T14:00:02.000Z", cost_micros });

test("a step has its cost, or the reason why it is unknown", () => {
  expect(costOfStep(step({ cost_micros: 12 }).data)).toEqual({ micros: 12, reason: undefined });
  expect(costOfStep(step({ cost_micros: 0 }).data)).toEqual({ micros: 0, reason: undefined });
  expect(costOfStep(step({ cost_micros: null }).data)).toEqual({
    micros: null,
    reason: "no known price for openai/gpt",
  });
  expect(costOfStep(step({}).data)).toEqual({
    micros: null,
    reason: "older than the metering of costs",
  });
});

test("a run that has ended has its own cost", () => {
  expect(costOfRun(ended(40), [step({ cost_micros: 12 })])).toEqual({
    micros: 40,
    reason: undefined,
  });
});

test("a run in progress has the cost of its model calls so far, also of lost ones", () => {
  const events = [
    step({}, "run.started"),
    step({ cost_micros: 12 }),
    step({ cost_micros: 5 }, "run.step_lost"),
  ];
  expect(costOfRun(run({}), events).micros).toBe(17);
  expect(costOfRun(run({}), []).micros).toBe(0);
});

test("one call without a price makes the cost of its run unknown", () => {
  const unknown = step({ cost_micros: null });
  const other = step({ cost_micros: null, model: "local/llama" });
  const reason = "no known price for openai/gpt, local/llama";
  for (const each of [run({}), ended(null)])
    expect(costOfRun(each, [step({ cost_micros: 1 }), unknown, other, unknown])).toEqual({
      micros: null,
      reason,
    });
});

test("a run from before the metering says so, and one without its steps says nothing", () => {
  expect(costOfRun(ended(null), [step({}), step({ cost_micros: null })]).reason).toBe(
    "older than the metering of costs",
  );
  expect(costOfRun(ended(null), []).reason).toBeUndefined();
  const large = { ...step({}), data: { artifact_id: "art_1", bytes: 70_000 } } as JournalEvent;
  expect(costOfRun(ended(null), [large]).reason).toBeUndefined();
});
