import type { Rates } from "@beckon/contract";
import { expect, test } from "vitest";
import type { TokenCounts } from "./token-counts.ts";
import { costOfCall, costOfTime, tokenPricesOf } from "./token-prices.ts";

const rates = (input: number, output: number, cached?: number, written?: number): Rates => ({
  input_micros_per_million: input,
  output_micros_per_million: output,
  cached_input_micros_per_million: cached ?? null,
  cache_write_micros_per_million: written ?? null,
});
const counts = (
  input: number,
  output = 0,
  { cached = 0, written }: { cached?: number; written?: number } = {},
): TokenCounts => ({
  input_tokens: input,
  output_tokens: output,
  cached_input_tokens: cached,
  cache_write_tokens: written,
});

const costByRates = (price: Rates, tokens: TokenCounts) => costOfCall(tokenPricesOf(price), tokens);

test("one million tokens cost the price", () => {
  expect(costByRates(rates(2_500_000, 10_000_000), counts(1_000_000, 1_000_000))).toBe(12_500_000);
});

test.each([
  [1, 1, 1],
  [1, 1_000_000, 1],
  [1, 1_000_001, 2],
  [3, 150_000, 1],
  [7, 150_000, 2],
  [0, 150_000, 0],
  [1_000, 0, 0],
])("%i tokens at %i cost %i: the sum is rounded up", (tokens, price, cost) => {
  expect(costByRates(rates(price, 0), counts(tokens))).toBe(cost);
});

test("the sum is rounded, not its parts", () => {
  expect(costByRates(rates(100_000, 200_000), counts(1, 1))).toBe(1);
  expect(costByRates(rates(100_000, 200_000), counts(4, 3))).toBe(1);
  expect(costByRates(rates(100_000, 200_000), counts(5, 3))).toBe(2);
});

// Added as floating-point numbers, 1.1 + 1.3 + 0.6 is 3.0000000000000004, which would be rounded up
// to 4. In another order it is 3, so each kind of token has each price in at least one case.
test.each([
  [1_100_000, 1_300_000, 600_000],
  [1_300_000, 600_000, 1_100_000],
  [600_000, 1_100_000, 1_300_000],
  [1_300_000, 1_100_000, 600_000],
])("a sum that is whole is not rounded up: prices %i, %i and %i", (input, output, cached) => {
  expect(costByRates(rates(input, output, cached), counts(2, 1, { cached: 1 }))).toBe(3);
});

test("cached and cache-written tokens have their own prices", () => {
  const price = rates(1_000_000, 0, 100_000, 1_250_000);
  expect(costByRates(price, counts(1_000, 0, { cached: 600, written: 200 }))).toBe(200 + 60 + 250);
});

test("cached and cache-written tokens without a price of their own cost as much as input", () => {
  const price = rates(1_000_000, 0);
  expect(costByRates(price, counts(1_000, 0, { cached: 600, written: 200 }))).toBe(1_000);
});

test("cached tokens can be free", () => {
  expect(costByRates(rates(1_000_000, 0, 0), counts(1_000, 0, { cached: 600 }))).toBe(400);
});

test("parts that exceed the input count only up to the input", () => {
  const price = rates(1_000_000, 0, 100_000, 2_000_000);
  expect(costByRates(price, counts(100, 0, { cached: 500, written: 500 }))).toBe(10);
  expect(costByRates(price, counts(100, 0, { cached: 40, written: 500 }))).toBe(4 + 120);
});

test("amounts beyond 2^53 millionths are exact", () => {
  const price = rates(2_000_000_000, 1_999_999_999);
  expect(costByRates(price, counts(1_000_000_000, 999_999_999))).toBe(3_999_999_997_001);
});

test.each([
  [1_000_000, 1_000, 1_000],
  [1_000_000, 1, 1],
  [1, 1, 1],
  [13_890, 60_000, 834],
  [0, 60_000, 0],
  [1_000_000, 0, 0],
])("at %i billionths of a dollar for a second, %i ms cost %i", (price, milliseconds, cost) => {
  expect(costOfTime(price, milliseconds)).toBe(cost);
});
