import { ApiError } from "../../base/errors.ts";
import { FixedWindowCounter, secondsLeft, type Window } from "../../base/fixed-window.ts";

/** Counts the requests of each trigger in this process, for the limit `max_per_minute`. */
export interface RequestRates {
  /** Counts a request. Returns the number of requests in the current minute, and its end. */
  count(triggerId: string): Window;
}

const windowMs = 60_000;

/**
 * Maximum number of triggers with a count. When there are more, the least recently used one loses
 * its count, which only makes its limit less strict.
 */
const maxTriggers = 50_000;

/** Creates the counts of one process. */
export function createRequestRates(): RequestRates {
  const counter = new FixedWindowCounter({ windowMs, maxKeys: maxTriggers });
  return { count: (triggerId) => ({ ...counter.add(triggerId) }) };
}

/** Returns the error for a request that is above the limit; undefined if it is not. */
export function tooManyRequests(window: Window, maxPerMinute: number): ApiError | undefined {
  if (window.count <= maxPerMinute) return undefined;
  const resetSeconds = secondsLeft(window);
  return new ApiError(
    "too_many_requests",
    `This trigger accepts ${maxPerMinute.toLocaleString("en")} requests a minute. Send the request again later.`,
    {
      retryAfter: resetSeconds,
      rateLimit: {
        policy: "trigger-requests",
        quota: maxPerMinute,
        windowSeconds: windowMs / 1_000,
        remaining: 0,
        resetSeconds,
      },
    },
  );
}
