import type { OutputEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { createOutputBuffer } from "./output-buffer.ts";

const run_id = "run_1";
const start = (step = 1): OutputEvent => ({
  type: "run.output.start",
  run_id,
  data: { step, attempt: 1 },
});
const delta = (text: string, step = 1): OutputEvent => ({
  type: "run.output.delta",
  run_id,
  data: { step, kind: "text", text },
});
const end = (step = 1, complete = true): OutputEvent => ({
  type: "run.output.end",
  run_id,
  data: { step, complete },
});

function takeAll(output: ReturnType<typeof createOutputBuffer>, after: number): OutputEvent[] {
  const taken: OutputEvent[] = [];
  for (let next = output.take(after); next !== undefined; next = output.take(after))
    taken.push(next);
  return taken;
}

test("events are taken in the order in which they were pushed", () => {
  const output = createOutputBuffer();
  const pushed = [start(), delta("a"), delta("b"), end()];
  for (const event of pushed) output.push(event, 1);
  expect(takeAll(output, 1)).toEqual(pushed);
});

test("a subscriber that joins in the middle of an attempt gets the next attempt only", () => {
  const output = createOutputBuffer();
  output.push(delta("a"), 1);
  output.push(end(), 1);
  output.push(start(2), 2);
  expect(takeAll(output, 2)).toEqual([start(2)]);
});

test("output is held back until the subscriber has the journal event before it", () => {
  const output = createOutputBuffer();
  output.push(start(2), 3);
  expect(takeAll(output, 1)).toEqual([]);
  expect(takeAll(output, 3)).toEqual([start(2)]);
});

test("output that later journal events contain is dropped", () => {
  const output = createOutputBuffer();
  output.push(start(1), 1);
  output.push(start(2), 2);
  expect(takeAll(output, 2)).toEqual([start(2)]);
});

test("on overflow the rest of the attempt is dropped, and its end says so", () => {
  const output = createOutputBuffer();
  output.push(start(), 1);
  expect(takeAll(output, 1)).toEqual([start()]);
  for (let index = 0; index < 100; index++) output.push(delta("x".repeat(1_000)), 1);
  output.push(end(), 1);
  expect(takeAll(output, 1)).toEqual([end(1, false)]);
  output.push(start(2), 2);
  output.push(delta("b", 2), 2);
  expect(takeAll(output, 2)).toEqual([start(2), delta("b", 2)]);
});

test("the number of small deltas is bounded", () => {
  const output = createOutputBuffer();
  output.push(start(), 1);
  for (let index = 0; index < 10_000; index++) output.push(delta("x"), 1);
  expect(takeAll(output, 1).length).toBeLessThan(1_000);
});

test("the number of start and end events is bounded", () => {
  const output = createOutputBuffer();
  for (let step = 1; step < 10_000; step++) {
    output.push(start(step), 1);
    output.push(end(step), 1);
  }
  expect(takeAll(output, 1).length).toBeLessThan(1_000);
});
