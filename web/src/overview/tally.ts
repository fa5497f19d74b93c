import type { WorkspaceEvent } from "@beckon/client";

/** The counts of one second. */
interface Second {
  /** Unix time in s. */
  readonly at: number;
  readonly counts: Counts;
}

/** Runs that started and ended. */
export interface Counts {
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
}

/**
 * Counts of events by second, oldest first. They are added to statistics that were read before
 * these events.
 */
export type Tally = readonly Second[];

/**
 * Number of seconds that are kept. Statistics are read more often than this, unless reading fails.
 */
const keptSeconds = 300;
const nothing: Counts = { started: 0, succeeded: 0, failed: 0 };

/**
 * Returns the tally with these events. The tally includes draft runs (tests of unsaved settings),
 * although statistics leave them out. So a draft run is counted until the statistics are refetched.
 */
export function addToTally(tally: Tally, events: readonly WorkspaceEvent[]): Tally {
  const added = events.flatMap((event) => {
    const counts = countsOf(event);
    return counts === nothing ? [] : [{ at: secondOf(Date.parse(event.time)), counts }];
  });
  if (added.length === 0) return tally;
  const bySecond = new Map(tally.map(({ at, counts }) => [at, counts]));
  for (const { at, counts } of added) bySecond.set(at, sum([bySecond.get(at) ?? nothing, counts]));
  const newest = Math.max(...bySecond.keys());
  return [...bySecond]
    .filter(([at]) => at > newest - keptSeconds)
    .map(([at, counts]) => ({ at, counts }))
    .toSorted((a, b) => a.at - b.at);
}

function countsOf({ type, seq }: WorkspaceEvent): Counts {
  // The first event of a run counts as its start, for example run.queued, or run.failed if the run
  // is created already failed.
  const started = seq === 1 ? 1 : 0;
  if (type === "run.finished") return { ...nothing, started, succeeded: 1 };
  if (type === "run.failed") return { ...nothing, started, failed: 1 };
  return started === 1 ? { ...nothing, started } : nothing;
}

/**
 * Returns the sum of the counts after a time. The counts of the same second are left out, because
 * the statistics that were read at this time already contain its events.
 * @param time ISO 8601 time
 */
export function countsSince(tally: Tally, time: string): Counts {
  const second = secondOf(Date.parse(time));
  return sum(tally.filter(({ at }) => at > second).map(({ counts }) => counts));
}

const secondOf = (ms: number) => Math.floor(ms / 1_000);

function sum(all: readonly Counts[]): Counts {
  return all.reduce(
    (total, each) => ({
      started: total.started + each.started,
      succeeded: total.succeeded + each.succeeded,
      failed: total.failed + each.failed,
    }),
    nothing,
  );
}
