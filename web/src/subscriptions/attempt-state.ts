/**
 * While an attempt is in progress, `next_attempt_at` is the time from which the attempt counts as
 * lost. That is three times BECKON_DELIVERY_TIMEOUT_SECONDS after its start. The setting is at most
 * 60. So an attempt can be in progress if `next_attempt_at` is less than 180 s away. If processes
 * have exited during earlier attempts, it can be up to ten times as far away, which is rare.
 */
const maxAttemptMs = 180_000;
const soonMs = 2_000;
const laterMs = 15_000;

/**
 * Returns the state of an attempt with the given `next_attempt_at`. `scheduled`: it has not begun.
 * `near`: it is in progress or follows soon. `due`: it can begin, or has begun since the read.
 */
export function attemptState(nextAttempt: string, nowMs: number): "scheduled" | "near" | "due" {
  const distanceMs = Date.parse(nextAttempt) - nowMs;
  if (distanceMs <= 0) return "due";
  return distanceMs < maxAttemptMs ? "near" : "scheduled";
}

/**
 * Returns the time in milliseconds after which deliveries are refetched. It is short if an attempt
 * is in progress or follows soon. False if no attempt is scheduled.
 * @param nextAttempts times of the next attempts; null where none is scheduled
 */
export function pollMs(nextAttempts: readonly (string | null)[], nowMs: number): number | false {
  const times = nextAttempts.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  if (times.length === 0) return false;
  return Math.min(...times) - nowMs < maxAttemptMs ? soonMs : laterMs;
}
