import { ApiError, type AppliedLimit } from "../base/errors.ts";
import { FixedWindowCounter, secondsLeft, type Window } from "../base/fixed-window.ts";
import { networkOf } from "../credentials/index.ts";

/**
 * Counts failed authentications by address, to slow down guessing. Requests with a valid key or
 * token are neither counted nor rejected, so failed guesses do not lock out other clients of the
 * same address.
 */
export interface FailedAuthentications {
  /**
   * Counts a failure and returns the error for its response: `unauthorized`, or `too_many_requests`
   * if the address is above the limit.
   */
  countFailure(address: string, message: string): ApiError;
  /**
   * Rejects an address that has reached the limit. Called before a password or one-time link is
   * compared. Called again after a password was found correct: while it was compared, other
   * attempts can have reached the limit, and then a correct password is rejected too.
   * @throws ApiError `too_many_requests`
   */
  permit(address: string): void;
}

/**
 * Maximum number of networks with a count. When there are more, the least recently used one loses
 * its count, which only makes the limit less strict.
 */
const maxNetworks = 10_000;
const windowMs = 60_000;

/**
 * Creates a counter that allows `limitPerMinute` failures for each address.
 * @param policy name of the limit in the headers `RateLimit` and `RateLimit-Policy`
 */
export function createFailedAuthentications(
  limitPerMinute: number,
  policy = "failed-authentications",
): FailedAuthentications {
  /** Failures by network: see `networkOf`. */
  const failures = new FixedWindowCounter({ windowMs, maxKeys: maxNetworks });
  const limitOf = (window: Window): AppliedLimit => ({
    policy,
    quota: limitPerMinute,
    windowSeconds: windowMs / 1_000,
    remaining: Math.max(0, limitPerMinute - window.count),
    resetSeconds: secondsLeft(window),
  });
  const tooMany = (rateLimit: AppliedLimit) =>
    new ApiError(
      "too_many_requests",
      "Too many failed authentications from this address. Wait, and send a valid credential.",
      { retryAfter: rateLimit.resetSeconds, rateLimit },
    );
  return {
    permit(address) {
      const window = failures.get(networkOf(address));
      if (window !== undefined && window.count >= limitPerMinute) throw tooMany(limitOf(window));
    },
    countFailure(address, message) {
      const window = failures.add(networkOf(address));
      const rateLimit = limitOf(window);
      return window.count <= limitPerMinute
        ? new ApiError("unauthorized", message, { rateLimit })
        : tooMany(rateLimit);
    },
  };
}
