import { expect, test } from "vitest";
import { endPadding } from "./column.ts";

test("a column has the padding of the last one where all later columns are hidden", () => {
  const columns = [{}, { from: "sm" }, { from: "lg" }] as const;
  expect(columns.map((_, index) => endPadding(columns, index))).toEqual([
    "max-sm:pr-4",
    "max-lg:pr-4",
    "",
  ]);
  expect(endPadding([{}, { from: "sm" }, {}], 0)).toBe("");
});
