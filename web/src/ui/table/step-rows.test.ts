import { expect, test } from "vitest";
import { minStepRows, paintMsPerRow, stepRows } from "./step-rows.ts";

test("the first step adds the minimum number of rows", () => {
  expect(stepRows(undefined)).toBe(minStepRows);
});

test("a step adds as many rows as are painted in one frame, within limits", () => {
  expect(stepRows(2)).toBe(8);
  expect(stepRows(0.1)).toBe(14);
  expect(stepRows(40)).toBe(minStepRows);
});

test("a slow step counts at once, a fast one half", () => {
  expect(paintMsPerRow(undefined, 5, 10)).toBe(2);
  expect(paintMsPerRow(2, 5, 40)).toBe(8);
  expect(paintMsPerRow(8, 5, 10)).toBe(5);
});
