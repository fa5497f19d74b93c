import type { RunStats } from "@beckon/client";
import type { Recent } from "./queries.ts";
import { countsSince, type Tally } from "./tally.ts";

type Group = RunStats["groups"][number];

/** Number of minutes over which "runs per minute" is averaged. */
export const meanMinutes = 5;
/**
 * Each point of the sparklines of shares and durations covers this many minutes, because values of
 * single minutes vary too much.
 */
const minutesPerPoint = 5;

/** The rate of started runs. */
export interface RateFigure {
  /** Mean of the current minute so far and of the four minutes before it. */
  readonly perMinute: number;
  /** Runs in the whole range. */
  readonly total: number;
  readonly minutes: number;
  /** Runs by minute, the current one last. */
  readonly series: readonly number[];
}

/** Returns the rate of runs. It includes runs that started after the statistics were read. */
export function rateOf({ minutes, stats }: Recent, tally: Tally): RateFigure {
  const series = byMinute(minutes, stats).map((group) => runsIn(group));
  const { started } = countsSince(tally, stats.created_before);
  const last = series.length - 1;
  const live = series.map((count, index) => (index === last ? count + started : count));
  const readAtMs = Date.parse(stats.created_before);
  const startMs = (Math.floor(readAtMs / 60_000) - meanMinutes + 1) * 60_000;
  // The counted time ends with the newest second of the tally, or when the statistics were read. To
  // divide by whole minutes would show too little at the beginning of each minute.
  const endMs = Math.max(readAtMs, ((tally.at(-1)?.at ?? 0) + 1) * 1_000);
  return {
    perMinute: sum(live.slice(-meanMinutes)) / ((endMs - startMs) / 60_000),
    total: sum(live),
    minutes,
    series: live,
  };
}

/** The share of ended runs that succeeded. Cancelled runs do not count. */
export interface SuccessFigure {
  /** 0 to 1; null if no run has ended. */
  readonly share: number | null;
  readonly failed: number;
  readonly ended: number;
  /** The share for each five minutes; null if no run ended in them. */
  readonly series: readonly (number | null)[];
}

/** Returns the share of success. It includes runs that ended after the statistics were read. */
export function successOf({ minutes, stats }: Recent, tally: Tally): SuccessFigure {
  const groups = byMinute(minutes, stats);
  const since = countsSince(tally, stats.created_before);
  const succeeded = sum(groups.map((group) => group?.runs.succeeded ?? 0)) + since.succeeded;
  const failed = sum(groups.map((group) => group?.runs.failed ?? 0)) + since.failed;
  const ended = succeeded + failed;
  const series = points(groups).map((point) => {
    const good = sum(point.map((group) => group?.runs.succeeded ?? 0));
    const bad = sum(point.map((group) => group?.runs.failed ?? 0));
    return good + bad === 0 ? null : good / (good + bad);
  });
  return { share: ended === 0 ? null : succeeded / ended, failed, ended, series };
}

/**
 * Returns the highest p95 of run durations for each five minutes, in ms; null if no run ended. The
 * statistics contain one p95 for each minute.
 */
export function slowestSeries({ minutes, stats }: Recent): readonly (number | null)[] {
  return points(byMinute(minutes, stats)).map((point) => {
    const values = point.flatMap((group) => group?.duration_ms.p95 ?? []);
    return values.length === 0 ? null : Math.max(...values);
  });
}

/** Minimum number of neighboring values for a line chart. Fewer would look like single dots. */
const minNeighbors = 3;

/** Returns whether enough neighboring values are known to draw a line. */
export function hasLine(series: readonly (number | null)[]): boolean {
  let neighbors = 0;
  return series.some((value) => {
    neighbors = value === null ? 0 : neighbors + 1;
    return neighbors >= minNeighbors;
  });
}

/**
 * Returns the group of each minute of the range, the current one last; undefined for a minute
 * without runs.
 */
function byMinute(minutes: number, { created_before, groups }: RunStats): (Group | undefined)[] {
  const last = Math.floor(Date.parse(created_before) / 60_000);
  const known = new Map(
    groups.map((group) => [Math.floor(Date.parse(group.bucket ?? "") / 60_000), group]),
  );
  return Array.from({ length: minutes }, (_, index) => known.get(last - minutes + 1 + index));
}

function points<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / minutesPerPoint) }, (_, index) =>
    items.slice(index * minutesPerPoint, (index + 1) * minutesPerPoint),
  );
}

function runsIn(group: Group | undefined): number {
  return group === undefined ? 0 : sum(Object.values(group.runs));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
