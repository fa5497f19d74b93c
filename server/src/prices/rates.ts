import type { Rates } from "@beckon/contract";
import { plausibleParts, type TokenCounts } from "./token-counts.ts";

/**
 * Returns the cost in whole micro-dollars, rounded up. The calculation uses integers only, because
 * a floating-point sum can be slightly above a whole number and would then be rounded up to the
 * next one.
 */
export function costByRates(rates: Rates, counts: TokenCounts): number {
  const parts = plausibleParts(counts);
  const { cached_input_tokens: cached, cache_write_tokens: written } = parts;
  const input = rates.input_micros_per_million;
  const millionths =
    product(parts.input_tokens - cached - written, input) +
    product(cached, rates.cached_input_micros_per_million ?? input) +
    product(written, rates.cache_write_micros_per_million ?? input) +
    product(parts.output_tokens, rates.output_micros_per_million);
  return Number(quotientRoundedUp(millionths, 1_000_000n));
}

/**
 * Returns the cost of some milliseconds in whole micro-dollars, rounded up.
 * @param nanosPerSecond price of a second in billionths of a dollar, an integer.
 */
export function costOfTime(nanosPerSecond: number, milliseconds: number): number {
  // Milliseconds × billionths per second are 10^-12 dollars.
  return Number(quotientRoundedUp(product(milliseconds, nanosPerSecond), 1_000_000n));
}

/** Returns the exact product. It can exceed 2^53, above which numbers are no longer exact. */
function product(count: number, price: number): bigint {
  return BigInt(count) * BigInt(price);
}

function quotientRoundedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
