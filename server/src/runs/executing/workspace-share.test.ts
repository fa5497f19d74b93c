import { expect, test } from "vitest";
import { maxRunsOfOne, sharesOf } from "./workspace-share.ts";

test("one of several workspaces can use three quarters of a process, and at least one run", () => {
  const maxOf = (maxRuns: number) => maxRunsOfOne(maxRuns, true);
  expect([1, 2, 3, 4, 2_000].map(maxOf)).toEqual([1, 1, 2, 3, 1_500]);
});

test("a single workspace can use the whole process", () => {
  expect([1, 2, 2_000].map((maxRuns) => maxRunsOfOne(maxRuns, false))).toEqual([1, 2, 2_000]);
});

test("a claim takes what each workspace has left of its share", () => {
  const inUse = new Map([
    ["full", 75],
    ["over", 90],
    ["busy", 70],
    ["idle", 1],
  ]);
  expect(sharesOf(inUse, { maxOfOne: 75, maxRuns: 50 })).toEqual({
    full: ["full", "over"],
    maxOf: new Map([["busy", 5]]),
    maxOfOne: 50,
  });
});

test("a claim takes no more of a workspace without runs than a whole share", () => {
  expect(sharesOf(new Map(), { maxOfOne: 3, maxRuns: 50 }).maxOfOne).toBe(3);
});
