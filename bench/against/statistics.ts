/** The values of one measure in both versions, measured one after the other. */
export interface Pair {
  readonly checkout: number;
  readonly commit: number;
}

export type Side = keyof Pair;

export interface Comparison {
  /** Median of each version's values. */
  readonly checkout: number;
  readonly commit: number;
  /** Median of the pairs' ratios, checkout divided by commit. */
  readonly ratio: number;
  /** Confidence interval of `ratio`. */
  readonly low: number;
  readonly high: number;
  /** Confidence of the interval, 0 to 1; at least 0.95 with six pairs or more. */
  readonly confidence: number;
  /** Whether `confidence` is at least 0.95 and the interval is narrower than ±3 %. */
  readonly narrow: boolean;
}

const minConfidence = 0.95;
/** Maximum half width of the interval, as a fraction of the ratio. */
const maxHalfWidth = 0.03;

/**
 * Compares two versions by the ratio within each pair, because the machine's speed varies between
 * pairs.
 */
export function compare(pairs: readonly Pair[]): Comparison {
  const ratios = pairs
    .map(({ checkout, commit }) => checkout / commit)
    .filter((one) => !Number.isNaN(one));
  const ratio = median(ratios);
  const interval = medianInterval(ratios);
  return {
    checkout: median(pairs.map(({ checkout }) => checkout)),
    commit: median(pairs.map(({ commit }) => commit)),
    ratio,
    ...interval,
    narrow:
      interval.confidence >= minConfidence &&
      (interval.high - interval.low) / 2 < maxHalfWidth * ratio,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(
    Math.floor((sorted.length - 1) / 2),
    Math.floor(sorted.length / 2) + 1,
  );
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/**
 * Returns the narrowest interval from the k-th smallest to the k-th largest value that contains the
 * true median with at least 95 % confidence. For fewer than six values, the interval is the range
 * of the values and has less confidence.
 *
 * The method is exact for any distribution: a value is below the true median with probability 1/2,
 * so the number of values below it has a binomial distribution (W. J. Conover, Practical
 * Nonparametric Statistics, 3rd ed., 3.2). A bootstrap of the median is only approximate, and too
 * narrow for ten values.
 */
export function medianInterval(values: readonly number[]): {
  low: number;
  high: number;
  confidence: number;
} {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let rank = 0;
  // Probability that `rank` values or fewer are below the median.
  let tail = 0.5 ** count;
  let confidence = 1 - 2 * tail;
  for (let next = 1, term = tail; next < count / 2; next++) {
    term *= (count - next + 1) / next;
    tail += term;
    if (1 - 2 * tail < minConfidence) break;
    rank = next;
    confidence = 1 - 2 * tail;
  }
  return {
    low: sorted[rank] ?? Number.NaN,
    high: sorted[count - 1 - rank] ?? Number.NaN,
    confidence,
  };
}

/**
 * Returns which version is measured first. The order alternates from pair to pair, and within a
 * pair from case to case.
 */
export function pairOrder(pair: number, position: number): readonly [Side, Side] {
  return (pair + position) % 2 === 0 ? ["checkout", "commit"] : ["commit", "checkout"];
}
