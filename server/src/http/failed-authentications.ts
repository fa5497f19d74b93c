import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { elapsed } from "../base/clock.ts";
import { ApiError, type AppliedLimit } from "../base/errors.ts";
import { FixedWindowCounter, type Window } from "../base/fixed-window.ts";

/**
 * Counts failed authentications by address, to slow down guessing. Valid credentials are neither
 * counted nor rejected, so nobody can lock out others behind the same address.
 */
export interface FailedAuthentications {
  /**
   * Counts a failure. Returns its error: `unauthorized`, or `too_many_requests` above the limit.
   */
  countFailure(address: string, message: string): ApiError;
  /** For credentials that are not compared above the limit. @throws ApiError `too_many_requests` */
  permit(address: string): void;
}

/**
 * Networks counted at once. Above that one is forgotten, which only makes the limit less strict.
 */
const maxNetworks = 10_000;
const windowMs = 60_000;

/** Creates a counter that allows `limitPerMinute` failures for each address. */
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
    // Rounded first: the sum of two floating-point times can be slightly more.
    resetSeconds: Math.ceil(Math.round(endsAt - elapsed()) / 1_000),
  });
  const tooMany = (limit: AppliedLimit) =>
    new ApiError(
      "too_many_requests",
      "Too many failed authentications from this address. Wait, and send a valid credential.",
      { retryAfter: limit.resetSeconds, limit },
    );
  return {
    permit(address) {
      const window = failures.get(networkOf(address));
      if (window !== undefined && window.count >= limitPerMinute) throw tooMany(limitOf(window));
    },
    countFailure(address, message) {
      const window = failures.add(networkOf(address));
      const limit = limitOf(window);
      return window.count <= limitPerMinute
        ? new ApiError("unauthorized", message, { limit })
        : tooMany(limit);
    },
  };
}

/**
 * Returns the key under which an address is counted: an IPv4 address itself, IPv4-mapped ones (RFC
 * 4291, 2.5.5.2) too; for an IPv6 address its /64, since one subscriber has at least a whole one
 * (RFC 6177).
 */
function networkOf(address: string): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
