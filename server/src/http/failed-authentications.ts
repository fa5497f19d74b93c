import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { elapsed } from "../base/clock.ts";
import { ApiError, type AppliedLimit } from "../base/errors.ts";
import { FixedWindowCounter, type Window } from "../base/fixed-window.ts";

/**
 * Counts failed authentications by address and slows down who guesses. A valid credential is never counted and never refused, so
 * nobody is locked out by what a neighbour behind the same address does.
 */
export interface FailedAuthentications {
  /** The answer to one more failure: `unauthorized`, or `too_many_requests` beyond the limit. */
  answer(address: string, message: string): ApiError;
  /** For credentials that are not even compared beyond the limit. @throws ApiError `too_many_requests` beyond it. */
  permit(address: string): void;
}

/** Networks counted at once. Beyond that one is forgotten, which only costs strictness. */
const maxNetworks = 10_000;
const windowMs = 60_000;

/** Counts failed authentications by address, and answers 429 above the limit. */
export function countFailedAuthentications(
  limitPerMinute: number,
  policy = "failed-authentications",
): FailedAuthentications {
  /** By network: see `networkOf`. */
  const failures = new FixedWindowCounter({ windowMs, maxKeys: maxNetworks });
  const limitOf = ({ count, endsAt }: Window): AppliedLimit => ({
    policy,
    quota: limitPerMinute,
    windowSeconds: windowMs / 1_000,
    remaining: Math.max(0, limitPerMinute - count),
    // Rounded first: the sum of two floating-point times may be a little more.
    resetSeconds: Math.ceil(Math.round(endsAt - elapsed()) / 1_000),
  });
  const tooMany = (limit: AppliedLimit) =>
    new ApiError(
      "too_many_requests",
      "Too many failed authentications from this address. Wait, and send a valid credential.",
      {
        retryAfter: limit.resetSeconds,
        limit,
      },
    );
  return {
    permit(address) {
      const window = failures.get(networkOf(address));
      if (window !== undefined && window.count >= limitPerMinute) throw tooMany(limitOf(window));
    },
    answer(address, message) {
      const window = failures.add(networkOf(address));
      const limit = limitOf(window);
      return window.count <= limitPerMinute
        ? new ApiError("unauthorized", message, { limit })
        : tooMany(limit);
    },
  };
}

/**
 * Returns what an address is counted by: an IPv4 address itself, IPv4-mapped ones (RFC 4291,
 * 2.5.5.2) too; of an IPv6 address its /64, since one subscriber has at least a whole one (RFC
 * 6177).
 */
function networkOf(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
