import type { RetryPolicy } from "../timeouts.ts";

/**
 * Returns the wait in milliseconds after a failed attempt: `retryAfterMs` plus an exponential
 * backoff with full jitter, so that runs that failed together do not retry together. The sum can be
 * longer than `maxWaitMs`: the caller compares it with the time left.
 *
 * @param attempt number of failed attempts so far, without failed probes of an open circuit. It is
 *   0 if only probes have failed. The backoff is then at most half of `baseWaitMs`.
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

/** Maximum wait in milliseconds of a run that is not counted among the waiting runs. */
export const maxBriefWaitMs = 5_000;

/**
 * Returns the wait after a rate limit of a run for which no capacity for waiting runs is left: as
 * `retryWait`, but at most `maxBriefWaitMs`.
 */
export function briefWait(...options: Parameters<typeof retryWait>): number {
  return Math.min(maxBriefWaitMs, retryWait(...options));
}
