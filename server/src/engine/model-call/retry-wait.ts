import type { RetryPolicy } from "../timeouts.ts";

/**
 * Returns the wait in milliseconds after attempt number `attempt` (from 1) failed. The wait is
 * exponential backoff with full jitter, so that runs that failed together do not retry together. It
 * is at least `retryAfterMs`, which can be larger than `maxWaitMs`: the caller compares the wait
 * with the time left.
 */
export function retryWait(
  { baseWaitMs, maxWaitMs }: RetryPolicy,
  attempt: number,
  retryAfterMs = 0,
  random = Math.random,
): number {
  return Math.max(retryAfterMs, random() * Math.min(maxWaitMs, baseWaitMs * 2 ** (attempt - 1)));
}
