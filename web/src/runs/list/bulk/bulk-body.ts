import type { CancelRunsBody, DeleteRunsBody } from "@beckon/client";
import { queryOf, type RunFilters } from "../filters/run-filters.ts";

/** An action on many runs. */
export type BulkAction = "cancel" | "delete";

/** The body of a bulk operation. Both actions select runs in the same way. */
export type BulkBody = CancelRunsBody & DeleteRunsBody;

/** The states in which a run can be cancelled or deleted. */
const statesFor = {
  cancel: ["waiting", "queued", "running"],
  delete: ["succeeded", "failed", "cancelled"],
} as const;

/** Returns whether the run is in a state in which the action applies to it. */
export function canApply(action: BulkAction, { status }: { readonly status: string }): boolean {
  return (statesFor[action] as readonly string[]).includes(status);
}

/** Why all runs that match cannot be selected together if the filters have a text. */
export const textSearchReason =
  "Runs found by a search in their texts can only be selected one by one.";

/**
 * Returns the body of a bulk operation that changes all runs which match the filters and to which
 * the action applies; or the reason why there is no such operation for the filters.
 */
export function bulkBodyOf(
  filters: RunFilters,
  action: BulkAction,
  nowMs: number,
): BulkBody | { readonly reason: string } {
  const { text, status, source, ...rest } = queryOf(filters, nowMs);
  if (text !== undefined) return { reason: textSearchReason };
  const states = status?.split(",").filter((each) => canApply(action, { status: each }));
  if (states?.length === 0)
    return {
      reason:
        action === "cancel" ? "Runs that match have ended." : "Runs that match have not ended yet.",
    };
  const filter = {
    ...rest,
    ...(states && { status: states }),
    ...(source && { source: source.split(",") }),
  };
  // The cast is safe: the states and sources were checked when the URL was parsed.
  return (Object.keys(filter).length === 0 ? { all: true } : { filter }) as BulkBody;
}
