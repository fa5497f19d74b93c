import { elapsed } from "../base/clock.ts";
import { Refusal } from "../base/errors.ts";

/**
 * Counts failed authentications by address and slows down who guesses. A valid credential is never counted and never refused, so
 * nobody is locked out by what a neighbour behind the same address does.
 */
export interface FailedAuthentications {
  /** The answer to one more failure: `unauthorized`, or `too_many_requests` beyond the limit. */
  answer(address: string, message: string): Refusal;
}

/** Addresses kept in mind; beyond that the oldest is forgotten, which only costs strictness. */
const maxAddresses = 10_000;
const windowMs = 60_000;

export function countFailedAuthentications(limitPerMinute: number): FailedAuthentications {
  const failures = new Map<string, { count: number; until: number }>();
  return {
    answer(address, message) {
      const now = elapsed();
      const known = failures.get(address);
      const entry = known !== undefined && known.until > now ? known : { count: 0, until: now + windowMs };
      entry.count++;
      failures.delete(address);
      failures.set(address, entry);
      for (const oldest of failures.keys()) {
        if (failures.size <= maxAddresses) break;
        failures.delete(oldest);
      }
      if (entry.count <= limitPerMinute) return new Refusal("unauthorized", message);
      return new Refusal("too_many_requests", "Too many failed authentications from this address. Wait, and send a valid credential.", {
        retryAfter: Math.ceil((entry.until - now) / 1_000),
      });
    },
  };
}
