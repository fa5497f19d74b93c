interface Box {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the path of a line through values in order of time, in a box with zero or the lowest
 * value at its lower edge. Null is a gap, and a value between two gaps a dot. Empty without values.
 *
 * Written here because every first page has a line: `d3-shape` would add 4 KB to it.
 */
export function linePath(values: readonly (number | null)[], { width, height }: Box): string {
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known);
  const span = Math.max(...known) - low || 1;
  const step = width / Math.max(1, values.length - 1);
  return values
    .map((value, index) => {
      if (value === null) return "";
      const at = `${round(index * step)},${round(height - ((value - low) / span) * height)}`;
      // A line of no length, so that a value alone is drawn as well.
      return (values[index - 1] ?? null) === null ? `M${at}h0` : `L${at}`;
    })
    .join("");
}

const round = (length: number) => Math.round(length * 100) / 100;
