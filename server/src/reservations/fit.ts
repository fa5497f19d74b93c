import { type Amounts, amountIn, type Limit } from "./budget.ts";

/**
 * Minimum number of output tokens for a call. If fewer are left, no call is made, because its
 * answer would be truncated before it is useful.
 */
export const minOutputTokens = 256;

/**
 * A limit counts as used up if even a call with at most this many input tokens does not fit. If
 * this number were 0, a limit would hardly ever count as used up. One token is reserved for each
 * byte of instructions, tools and input, so usual calls are already rejected while there is still
 * enough left for a call without input.
 */
const smallInputTokens = 32_768;

/** A model call that a run is about to make. */
export interface CallBound {
  /** The number of output tokens that the call gets if no limit lowers it. */
  readonly maxOutputTokens: number;
  /**
   * Returns what the call uses at most if it writes up to `outputTokens`, without what earlier
   * attempts used. It must not decrease when `outputTokens` grows: `fitInto` uses bisection. With 0
   * output tokens, it is what the input uses.
   */
  readonly amountsOf: (outputTokens: number) => Amounts;
  /** What earlier attempts of the call used, which is not written to the ledger yet. */
  readonly used: Amounts;
}

/** Whether and how a call fits into the remaining part of its limits. */
export type Fit =
  | {
      readonly kind: "fits";
      readonly outputTokens: number;
      /**
       * The limit that makes `outputTokens` lower than the maximum of the call; undefined if no
       * limit does.
       */
      readonly loweredBy: Limit | undefined;
    }
  /**
   * Too little is left of `limit` for a useful call. `isUsedUp` is whether it is too little even
   * for a call with at most `smallInputTokens` of input. `needed` is the amount of the limit that
   * the call needs with the smallest useful answer, and `left` the amount that is left for it.
   */
  | {
      readonly kind: "spent";
      readonly limit: Limit;
      readonly isUsedUp: boolean;
      readonly needed: number;
      readonly left: number;
    }
  /** A limit in money applies, and no price is known. */
  | { readonly kind: "price_unknown" };

/**
 * Lowers the maximum number of output tokens of a call until its use fits into the unspent part of
 * each limit. What other runs have reserved is not considered here.
 */
export function fitInto(limits: readonly Limit[], call: CallBound): Fit {
  const { maxOutputTokens, amountsOf, used } = call;
  const minimum = Math.min(minOutputTokens, maxOutputTokens);
  const largest = amountsOf(maxOutputTokens);
  const applying = limits.filter((limit) => limit.allowed !== null);
  if (applying.some((limit) => amountIn(limit, largest) === null)) return { kind: "price_unknown" };
  let outputTokens = maxOutputTokens;
  let loweredBy: Limit | undefined;
  for (const limit of applying) {
    const left = Math.max(0, (limit.allowed ?? 0) - limit.spent - (amountIn(limit, used) ?? 0));
    const fits = (tokens: number) => (amountIn(limit, amountsOf(tokens)) ?? 0) <= left;
    if (fits(outputTokens)) continue;
    if (!fits(minimum))
      return {
        kind: "spent",
        limit,
        isUsedUp: amountOfSmall(limit, amountsOf, minimum) > left,
        needed: amountIn(limit, amountsOf(minimum)) ?? 0,
        left,
      };
    outputTokens = largestThat(fits, minimum, outputTokens);
    loweredBy = limit;
  }
  return { kind: "fits", outputTokens, loweredBy };
}

/**
 * Returns what a call uses of a limit if it writes `outputTokens` and has at most
 * `smallInputTokens` of input. It assumes that the cost of input is proportional to its tokens.
 */
function amountOfSmall(
  limit: Limit,
  amountsOf: CallBound["amountsOf"],
  outputTokens: number,
): number {
  const whole = amountIn(limit, amountsOf(outputTokens)) ?? 0;
  const input = amountsOf(0);
  const shareAboveSmall = Math.max(0, 1 - smallInputTokens / input.tokens);
  return whole - (amountIn(limit, input) ?? 0) * shareAboveSmall;
}

/** Returns the largest number of tokens that fits. `low` fits, and `high` does not. */
function largestThat(fits: (tokens: number) => boolean, low: number, high: number): number {
  let [fitting, tooLarge] = [low, high];
  while (tooLarge - fitting > 1) {
    const middle = Math.floor((fitting + tooLarge) / 2);
    if (fits(middle)) fitting = middle;
    else tooLarge = middle;
  }
  return fitting;
}
