import type { OutputEvent } from "@beckon/contract";
import { expect, test } from "vitest";
import { createHearer } from "./hearer.ts";

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

function takeAll(hearer: ReturnType<typeof createHearer>, after: number): OutputEvent[] {
  const taken: OutputEvent[] = [];
  for (let next = hearer.take(after); next !== undefined; next = hearer.take(after))
    taken.push(next);
  return taken;
}

test("what is said is taken in order", () => {
  const hearer = createHearer();
  const said = [start(), delta("a"), delta("b"), end()];
  for (const event of said) hearer.hear(event, 1);
  expect(takeAll(hearer, 1)).toEqual(said);
});

test("who comes in the middle hears nothing before the next beginning", () => {
  const hearer = createHearer();
  hearer.hear(delta("a"), 1);
  hearer.hear(end(), 1);
  hearer.hear(start(2), 2);
  expect(takeAll(hearer, 2)).toEqual([start(2)]);
});

test("what was said after an event waits until the reader has had that event", () => {
  const hearer = createHearer();
  hearer.hear(start(2), 3);
  expect(takeAll(hearer, 1)).toEqual([]);
  expect(takeAll(hearer, 3)).toEqual([start(2)]);
});

test("what the journal has gone past is left out", () => {
  const hearer = createHearer();
  hearer.hear(start(1), 1);
  hearer.hear(start(2), 2);
  expect(takeAll(hearer, 2)).toEqual([start(2)]);
});

test("a slow reader misses the rest of an attempt and is told so, and hears the next from its beginning", () => {
  const hearer = createHearer();
  hearer.hear(start(), 1);
  expect(takeAll(hearer, 1)).toEqual([start()]);
  for (let index = 0; index < 100; index++) hearer.hear(delta("x".repeat(1_000)), 1);
  hearer.hear(end(), 1);
  expect(takeAll(hearer, 1)).toEqual([end(1, false)]);
  hearer.hear(start(2), 2);
  hearer.hear(delta("b", 2), 2);
  expect(takeAll(hearer, 2)).toEqual([start(2), delta("b", 2)]);
});

test("many small pieces are bounded too", () => {
  const hearer = createHearer();
  hearer.hear(start(), 1);
  for (let index = 0; index < 10_000; index++) hearer.hear(delta("x"), 1);
  expect(takeAll(hearer, 1).length).toBeLessThan(1_000);
});

test("so are beginnings and ends that nobody takes", () => {
  const hearer = createHearer();
  for (let step = 1; step < 10_000; step++) {
    hearer.hear(start(step), 1);
    hearer.hear(end(step), 1);
  }
  expect(takeAll(hearer, 1).length).toBeLessThan(1_000);
});
