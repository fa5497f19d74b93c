import { formatDuration } from "../../../format/index.ts";
import type { TimelineRow } from "./timeline.ts";

/**
 * Returns how long a row lasted, in words. Empty for rows without a duration, "unknown" for rows of
 * lost calls.
 * @param now Unix time in ms up to which the duration of a row that has not ended is counted
 */
export function durationOf(row: TimelineRow, now: number): string {
  if (row.kind === "end" || row.kind === "rejected") return "";
  if (!row.isMeasured) return "unknown";
  return formatDuration(Math.max(0, (row.end ?? now) - row.start));
}
