import type { ListedRun } from "@beckon/client";
import { type BulkAction, canApply } from "../filters/run-filters.ts";

/** The selected runs: some of the loaded ones, or all that match the filters. */
export type RunSelection =
  | { readonly kind: "some"; readonly keys: ReadonlySet<string> }
  | { readonly kind: "all" };

export const nothingSelected: RunSelection = { kind: "some", keys: new Set() };

/** Returns the ids of the selected runs to which the action applies. */
export function applicable(
  rows: readonly ListedRun[],
  keys: ReadonlySet<string>,
  action: BulkAction,
): readonly string[] {
  return rows.filter((run) => keys.has(run.id) && canApply(action, run)).map(({ id }) => id);
}
