import { expect, test } from "vitest";
import { type RowWindow, stepTo } from "./use-window.ts";

/** Returns the windows that are shown one after the other until the wanted one is reached. */
function stepsTo(wanted: RowWindow, shown: RowWindow, first: number): RowWindow[] {
  const steps = [shown];
  for (let step = 0; step < 6; step++) steps.push(stepTo(wanted, steps.at(-1) ?? shown, first, 8));
  return steps.slice(1);
}

test("the window moves at once if few rows are new", () => {
  expect(stepTo({ start: 6, end: 48 }, { start: 0, end: 42 }, 12, 8)).toEqual({
    start: 6,
    end: 48,
  });
  expect(stepTo({ start: 0, end: 42 }, { start: 6, end: 48 }, 6, 8)).toEqual({ start: 0, end: 42 });
});

test("a jump adds a few rows in each step, first those in sight", () => {
  expect(stepsTo({ start: 600, end: 642 }, { start: 0, end: 42 }, 608)).toEqual([
    { start: 608, end: 616 },
    { start: 608, end: 624 },
    { start: 608, end: 632 },
    { start: 608, end: 640 },
    { start: 602, end: 642 },
    { start: 600, end: 642 },
  ]);
});

test("a jump back does so too", () => {
  expect(stepTo({ start: 0, end: 40 }, { start: 600, end: 642 }, 0, 8)).toEqual({
    start: 0,
    end: 8,
  });
  expect(stepTo({ start: 0, end: 40 }, { start: 30, end: 72 }, 8, 8)).toEqual({
    start: 22,
    end: 40,
  });
});

test("a list that has become shorter leaves the rows that it has lost", () => {
  expect(stepTo({ start: 0, end: 10 }, { start: 600, end: 642 }, 2, 8)).toEqual({
    start: 2,
    end: 10,
  });
});
