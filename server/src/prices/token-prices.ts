import type { Rates } from "@beckon/contract";
import { plausibleParts, type TokenCounts } from "./token-counts.ts";

/**
 * Prices of one token, each an integer in billionths of a micro-dollar. Sums of integers are exact.
 * A sum of floating-point numbers can be slightly above a whole number, and would then be rounded
 * up to the next one.
 */
export interface TokenPrices {
  /** Input that is neither read from nor written to the provider's cache. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** Output without reasoning. */
  readonly output: number;
  readonly reasoning: number;
}

/** Returns the price of one token in billionths of a micro-dollar, as `TokenPrices` needs it. */
export function priceOfToken(dollarsPerMillion: number): number {
  return Math.round(dollarsPerMillion * 1_000_000_000);
}

/** Converts a price that a workspace or the operator set. */
export function tokenPricesOf(rates: Rates): TokenPrices {
  // 1 micro-dollar for 1,000,000 tokens is 1,000 billionths of a micro-dollar for one.
  const { input_micros_per_million: input, output_micros_per_million: output } = rates;
  return {
    input: input * 1_000,
    cachedInput: (rates.cached_input_micros_per_million ?? input) * 1_000,
    cacheWrite: (rates.cache_write_micros_per_million ?? input) * 1_000,
    output: output * 1_000,
    reasoning: output * 1_000,
  };
}

/**
 * Returns the cost of a call in whole micro-dollars, rounded up.
 * @param priceOfCall price of the call itself, in billionths of a micro-dollar, an integer.
 */
export function costOfCall(prices: TokenPrices, counts: TokenCounts, priceOfCall = 0): number {
  const parts = plausibleParts(counts);
  const { cached_input_tokens: cached, cache_write_tokens: written } = parts;
  const billionths =
    BigInt(priceOfCall) +
    product(parts.input_tokens - cached - written, prices.input) +
    product(cached, prices.cachedInput) +
    product(written, prices.cacheWrite) +
    product(parts.output_tokens - parts.reasoning_tokens, prices.output) +
    product(parts.reasoning_tokens, prices.reasoning);
  return Number(quotientRoundedUp(billionths, 1_000_000_000n));
}

/**
 * Returns the cost of voice or browser time in whole micro-dollars, rounded up.
 * @param nanosPerSecond price of a second in billionths of a dollar, an integer.
 * @param milliseconds an integer.
 */
export function costOfTime(nanosPerSecond: number, milliseconds: number): number {
  // The product of milliseconds and billionths of a dollar per second is in units of 10^-12
  // dollars, of which 1,000,000 are a micro-dollar.
  return Number(quotientRoundedUp(product(milliseconds, nanosPerSecond), 1_000_000n));
}

/** Returns the exact product. It can exceed 2^53, above which numbers are no longer exact. */
function product(count: number, price: number): bigint {
  return BigInt(count) * BigInt(price);
}

function quotientRoundedUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
