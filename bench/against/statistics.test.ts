import { expect, test } from "vitest";
import { compare, median, medianInterval, pairOrder } from "./statistics.ts";

test("the median is the middle value, or the mean of the two middle values", () => {
  expect(median([10, 9, 1])).toBe(9);
  expect(median([10, 1, 9, 2])).toBe(5.5);
});

test("the median does not reorder its input", () => {
  const values = [3, 1, 2];
  median(values);
  medianInterval(values);
  expect(values).toEqual([3, 1, 2]);
});

// Each row has the number of values, the ranks of the lower and upper limit of their 95 % interval,
// and its exact confidence. The ranks are from tables of the two-sided sign test.
test.each([
  [6, 1, 6, 0.9688],
  [8, 1, 8, 0.9922],
  [9, 2, 8, 0.9609],
  [10, 2, 9, 0.9785],
  [12, 3, 10, 0.9614],
  [20, 6, 15, 0.9586],
  [40, 14, 27, 0.9615],
])("of %i values the interval goes from rank %i to rank %i", (count, low, high, confidence) => {
  const ranks = Array.from({ length: count }, (_, index) => count - index);
  const interval = medianInterval(ranks);
  expect(interval).toMatchObject({ low, high });
  expect(interval.confidence).toBeCloseTo(confidence, 4);
});

test("the interval contains the true median exactly as often as its confidence", () => {
  // Each value is above or below the true median, 0, with equal probability. The loop tries all
  // 2^10 combinations and counts those whose interval contains 0.
  const count = 10;
  let held = 0;
  for (let signs = 0; signs < 2 ** count; signs++) {
    const { low, high } = medianInterval(
      Array.from({ length: count }, (_, bit) => ((signs >> bit) & 1) * 2 - 1),
    );
    if (low <= 0 && high >= 0) held++;
  }
  expect(held / 2 ** count).toBe(medianInterval(Array<number>(count).fill(0)).confidence);
});

test("the interval of five values or fewer is their range, with less confidence", () => {
  expect(medianInterval([1.1, 0.9, 1])).toEqual({ low: 0.9, high: 1.1, confidence: 0.75 });
  expect(medianInterval([1])).toEqual({ low: 1, high: 1, confidence: 0 });
});

test("ratios are the checkout divided by the commit, per pair", () => {
  const pairs = [1, 2, 4, 8, 16, 32].map((speed) => ({ checkout: 3 * speed, commit: 2 * speed }));
  expect(compare(pairs)).toMatchObject({
    ratio: 1.5,
    low: 1.5,
    high: 1.5,
    checkout: 18,
    commit: 12,
  });
});

test("a pair without any response is ignored, and one with a response of one version counts", () => {
  const pairs = [1, 1, 1, 0].map((speed) => ({ checkout: 2 * speed, commit: speed }));
  expect(compare(pairs)).toMatchObject({ ratio: 2, low: 2, high: 2, confidence: 0.75 });
  expect(compare([...pairs, { checkout: 1, commit: 0 }, { checkout: 0, commit: 1 }])).toMatchObject(
    { ratio: 2, low: 0, high: Infinity },
  );
});

test("an interval with 95 % confidence below ±3 % of the median is narrow", () => {
  const spread = (half: number, count: number) =>
    compare(
      Array.from({ length: count }, (_, index) => ({
        checkout: 2 + (index % 2 === 0 ? -2 : 2) * half,
        commit: 1,
      })),
    );
  expect(spread(0.029, 10).narrow).toBe(true);
  expect(spread(0.031, 10).narrow).toBe(false);
  expect(spread(0, 5).narrow).toBe(false);
  expect(spread(0, 6).narrow).toBe(true);
});

test("the first version alternates between pairs and between cases", () => {
  const order = (pair: number, position: number) => pairOrder(pair, position).join(" ");
  expect([0, 1, 2, 3].map((pair) => order(pair, 0))).toEqual([
    "checkout commit",
    "commit checkout",
    "checkout commit",
    "commit checkout",
  ]);
  expect([0, 1, 2, 3].map((position) => order(0, position))).toEqual(
    [0, 1, 2, 3].map((pair) => order(pair, 0)),
  );
});
