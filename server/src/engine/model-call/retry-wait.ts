import type { RetryPolicy } from "../timeouts.ts";

/**
 * Milliseconds to wait after the `attempt`-th try (from 1) failed: anything between 0 and a bound that doubles with each
 * try, so that runs which failed together do not come back together. Never less than the provider asked for; what it asked
 * for is not capped here, the caller knows how long it can wait.
 */
export function retryWait(
  { baseMs, capMs }: RetryPolicy,
  attempt: number,
  retryAfterMs = 0,
  random = Math.random,
): number {
  return Math.max(retryAfterMs, random() * Math.min(capMs, baseMs * 2 ** (attempt - 1)));
}
