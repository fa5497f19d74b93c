import { formatDuration } from "../../../format/index.ts";
import type { TimelineRow } from "./timeline.ts";

/**
 * Returns how long a row lasted, in words: empty for what has no duration, "unknown" for what was
 * lost.
 * @param now end of what lasts, in Unix ms
 */
export function durationOf(row: TimelineRow, now: number): string {
  if (row.kind === "end" || row.kind === "rejected") return "";
  if (!row.isMeasured) return "unknown";
  return formatDuration(Math.max(0, (row.end ?? now) - row.start));
}
