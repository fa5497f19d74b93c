import type { RetryPolicy } from "../timeouts.ts";

/**
 * Returns the wait in milliseconds after a failed attempt: `retryAfterMs`, and then an exponential
 * backoff with full jitter, so that runs that failed together do not retry together. It can be
 * longer than `maxWaitMs`: the caller compares the wait with the time left.
 *
 * @param attempt number of failed attempts that count. It is 0 after a probe that failed before any
 *   other attempt, because failed probes of an open circuit do not count. The bound of the backoff
 *   is then half of `baseWaitMs`.
 * @param retryAfterMs how long the provider asked to wait. Default 0.
 */
export function retryWait(
  { baseWaitMs, maxWaitMs }: RetryPolicy,
  attempt: number,
  retryAfterMs = 0,
  random = Math.random,
): number {
  return retryAfterMs + random() * Math.min(maxWaitMs, baseWaitMs * 2 ** (attempt - 1));
}
