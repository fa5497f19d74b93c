import { ticks } from "d3-array";

/** Approximate number of intervals between the marks, if their labels differ. */
const maxIntervals = 4;

/**
 * Returns the values that an axis marks: round numbers from 0 up to at least `highest`. There are
 * fewer of them if two would have the same label, for example 0.5 and 1 calls.
 * @param highest an integer, 0 or more
 * @param format converts a value to its label
 */
export function axisMarks(highest: number, format: (value: number) => string): readonly number[] {
  if (highest <= 0) return [0];
  for (let intervals = maxIntervals; intervals > 0; intervals--) {
    const marks = roundNumbers(highest, intervals);
    if (new Set(marks.map(format)).size === marks.length) return marks;
  }
  return [0, highest];
}

function roundNumbers(highest: number, intervals: number): readonly number[] {
  const marks = ticks(0, highest, intervals);
  const [zero = 0, first = highest] = marks;
  const last = marks.at(-1) ?? highest;
  return last < highest ? [...marks, last + (first - zero)] : marks;
}
