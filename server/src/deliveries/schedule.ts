/**
 * Delays in seconds before each attempt, counted from the end of the attempt before it. The first
 * one is 0.
 */
export type RetrySchedule = readonly number[];

/** Fraction by which a delay is randomly shortened or lengthened. */
const jitter = 0.1;

/** Maximum delay that a receiver can request with `Retry-After`, in milliseconds. */
export const maxRetryAfterMs = 24 * 3_600_000;

/**
 * Returns the delay of the next attempt in milliseconds; undefined if there is none.
 * @param attempts number of attempts that have failed, at least 1.
 * @param retryAfterMs delay that the receiver requested. The returned delay is at least this long,
 *   up to 24 hours.
 */
export function nextDelayMs(
  schedule: RetrySchedule,
  attempts: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  const seconds = schedule[attempts];
  if (seconds === undefined) return undefined;
  const delayMs = seconds * 1_000 * (1 + jitter * (2 * random() - 1));
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, maxRetryAfterMs));
}
