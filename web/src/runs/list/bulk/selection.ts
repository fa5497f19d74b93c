import type { ListedRun } from "@beckon/client";
import { type BulkAction, canApply } from "./bulk-body.ts";

/** The selected runs: some of the loaded ones, or all that match the filters. */
export type RunSelection =
  | { readonly kind: "some"; readonly keys: ReadonlySet<string> }
  | { readonly kind: "all" };

export const nothingSelected: RunSelection = { kind: "some", keys: new Set() };

/**
 * Returns the selected runs that are still in the list. A refetch can remove a selected run, for
 * example because another person has deleted it. No action applies to a run that is not shown.
 */
export function selectedRuns(
  rows: readonly ListedRun[],
  keys: ReadonlySet<string>,
): readonly ListedRun[] {
  return rows.filter(({ id }) => keys.has(id));
}

/** Returns the ids of the selected runs to which the action applies. */
export function applicable(selected: readonly ListedRun[], action: BulkAction): readonly string[] {
  return selected.filter((run) => canApply(action, run)).map(({ id }) => id);
}

/** Returns why the action applies to none of the selected runs. */
export function whyNotApplicable(selected: readonly ListedRun[], action: BulkAction): string {
  if (selected.length === 0) return "The selected runs are no longer in this list.";
  return action === "cancel"
    ? "The selected runs have ended."
    : "The selected runs have not ended yet. Cancel them first.";
}
