import type { TokenUsage } from "@beckon/contract";

/**
 * Where a price comes from: the price library, the operator's file, or the workspace's own price.
 * `free` means that the price is 0, because the model is the demo model or its provider is marked
 * as free.
 */
export type PriceOrigin = "library" | "operator" | "workspace" | "free";

/** What a call costs. */
export interface Price {
  /** Cost in micro-dollars; null if no price is known. */
  readonly micros: number | null;
  /**
   * Cost by the prices of the library or of the operator's file, even if the workspace has set its
   * own price or marked its provider as free. It counts against the cost allowance of the plan.
   * Null if neither lists the model, but 0 for the demo model or if nothing was used.
   */
  readonly standardMicros: number | null;
  /** Origin of `micros`; null if no price is known, or if nothing was used. */
  readonly origin: PriceOrigin | null;
}

/**
 * Returns the price of the usage of one call that ends now. With `withinMs`, at most one day,
 * returns the highest price of a call that ends within this time, because some prices depend on the
 * date or on the time of day.
 */
export type PriceOf = (usage: TokenUsage, withinMs?: number) => Price;

/** The price of every call of a model that costs nothing. */
export const freePrice: PriceOf = () => ({ micros: 0, standardMicros: 0, origin: "free" });

/** The price of every call of a model without a known price. */
export const unknownPrice: PriceOf = () => ({ micros: null, standardMicros: null, origin: null });

/** Returns the sum of costs; null if one of them is unknown. */
export function sumMicros(costs: readonly (number | null | undefined)[]): number | null {
  let sum = 0;
  for (const cost of costs) {
    if (cost === null || cost === undefined) return null;
    sum += cost;
  }
  return sum;
}
