import type { Timeline, TimelineRow } from "./timeline.ts";

/** A span of time, Unix times in ms. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Maps times to positions between 0 (start of the run) and 1. */
export interface Scale {
  readonly position: (ms: number) => number;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** The idle times that are shortened. */
  readonly folds: readonly { readonly at: number; readonly ms: number }[];
}

/** Width of a shortened idle time, as a share of the whole width. */
const foldWidth = 0.04;
/**
 * An idle time is shortened only if it is at least this long, and at least this share of the whole
 * time.
 */
const minFoldMs = 1_000;
const minFoldShare = 0.15;
const maxTicks = 5;
/**
 * Minimum distance to the next tick, as a share of the width. It must also be enough for the
 * characters of the label.
 */
const minTickDistance = 0.14;
const characterWidth = 0.032;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const tickSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 4, 8, 12].map((count) => count * hour),
  ...[1, 2, 5, 10, 30].map((count) => count * day),
];

/**
 * Returns the periods of at least `minFoldMs` and `minFoldShare` in which neither a model nor a
 * tool worked. The page can fold them, because they would take most of the timeline's width.
 */
export function idleTimes({ rows, start }: Timeline, end: number): readonly Span[] {
  const minMs = Math.max(minFoldMs, (end - start) * minFoldShare);
  const idle: Span[] = [];
  let busyUntil = start;
  const note = (until: number) => {
    if (until - busyUntil >= minMs) idle.push({ start: busyUntil, end: until });
  };
  for (const row of rows.filter(isBusy).toSorted((a, b) => a.start - b.start)) {
    note(row.start);
    busyUntil = Math.max(busyUntil, row.end ?? end);
  }
  note(end);
  return idle;
}

const isBusy = ({ kind }: TimelineRow) => kind === "model" || kind === "tool";

/**
 * Creates the scale of a timeline.
 * @param folded the idle times to shorten, in order and within the span
 */
export function createScale({ start, end }: Span, folded: readonly Span[] = []): Scale {
  const idleMs = folded.reduce((sum, span) => sum + span.end - span.start, 0);
  const busyMs = Math.max(1, end - start - idleMs);
  const share = Math.max(0.2, 1 - folded.length * foldWidth);
  const foldShare = folded.length === 0 ? 0 : (1 - share) / folded.length;

  const position = (ms: number): number => {
    const time = Math.min(Math.max(ms, start), Math.max(end, start));
    let busy = time - start;
    let folds = 0;
    for (const span of folded) {
      if (time <= span.start) break;
      const spent = Math.min(time, span.end) - span.start;
      busy -= spent;
      folds += spent / (span.end - span.start);
    }
    return Math.min(1, (busy / busyMs) * share + folds * foldShare);
  };
  const folds = folded.map((span) => ({
    at: position((span.start + span.end) / 2),
    ms: span.end - span.start,
  }));
  return { position, folds, ticks: ticksOf({ start, end }, folded, position, busyMs) };
}

function ticksOf(
  { start, end }: Span,
  folded: readonly Span[],
  position: (ms: number) => number,
  busyMs: number,
): Scale["ticks"] {
  const step = tickSteps.find((ms) => busyMs / ms <= maxTicks) ?? 100 * day;
  const ticks: { at: number; label: string }[] = [];
  // A shortened idle time can be far longer than the rest of the run. So the loop skips all ticks
  // in it at once.
  for (let ms = 0; start + ms <= end; ) {
    const span = folded.find((each) => each.start < start + ms && start + ms < each.end);
    if (span !== undefined) {
      ms = Math.ceil((span.end - start) / step) * step;
      continue;
    }
    const at = position(start + ms);
    const last = ticks.at(-1);
    const room = Math.max(minTickDistance, (1 + (last?.label.length ?? 0)) * characterWidth);
    if (at - (last?.at ?? -1) >= room && at <= 0.94) ticks.push({ at, label: tickLabel(ms) });
    ms += step;
  }
  return ticks;
}

/**
 * Returns a time since the start of the run in words: `0`, `500 ms`, `4 s`, `1 m 5.2 s`, `3 h`. It
 * is exact, because after a folded idle time, ticks can differ in milliseconds only.
 */
export function tickLabel(ms: number): string {
  if (ms === 0) return "0";
  if (ms < second) return `${ms} ms`;
  const units = [
    [day, "d"],
    [hour, "h"],
    [minute, "m"],
  ] as const;
  let rest = ms;
  const parts: string[] = [];
  for (const [size, name] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  if (rest > 0) parts.push(`${rest / second} s`);
  return parts.join(" ");
}
