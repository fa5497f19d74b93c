import { formatClock, formatDate } from "../format/index.ts";
import { lookedBackTo } from "../runs/index.ts";
import type { FeedFilter } from "./feed.ts";

const words: Readonly<Record<FeedFilter, string>> = {
  all: "Runs appear here as they happen.",
  failed: "No run has failed.",
  running: "No run is running.",
};

/**
 * Returns what a feed without lines says. If not all runs were searched, it says how far back the
 * search looked, because older runs can match.
 * @param next cursor of the runs that were not searched; null if all runs were searched
 * @param zone time zone of the shown time
 */
export function emptyFeedWords(
  filter: FeedFilter,
  next: string | null,
  nowMs: number,
  zone: string,
): string {
  if (filter === "all" || next === null) return words[filter];
  const back = lookedBackTo(next);
  if (back === undefined) return `No ${filter} run was found among the newest runs.`;
  // The time of day is shown too, because a busy workspace has many runs in an hour.
  const time = `${formatDate(back, nowMs, zone)}, ${formatClock(back, zone)}`;
  return `No ${filter} run was found, looked back to ${time}.`;
}
