import type { ListedRun } from "@beckon/client";
import { expect, test } from "vitest";
import { applicable, selectedRuns, whyNotApplicable } from "./selection.ts";

const rows = [
  { id: "run_2", status: "running" },
  { id: "run_1", status: "failed" },
] as ListedRun[];

test("a selected run that a refetch has removed from the list does not count", () => {
  const selected = selectedRuns(rows, new Set(["run_1", "run_gone"]));
  expect(selected.map(({ id }) => id)).toEqual(["run_1"]);
  expect(applicable(selected, "delete")).toEqual(["run_1"]);
  expect(applicable(selected, "cancel")).toEqual([]);
});

test.each([
  ["run_1", "cancel", "The selected runs have ended."],
  ["run_2", "delete", "The selected runs have not ended yet. Cancel them first."],
  ["run_gone", "cancel", "The selected runs are no longer in this list."],
  ["run_gone", "delete", "The selected runs are no longer in this list."],
] as const)("of %s, the reason why it cannot be changed by %s is true", (id, action, reason) => {
  expect(whyNotApplicable(selectedRuns(rows, new Set([id])), action)).toBe(reason);
});
