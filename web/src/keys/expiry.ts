const dayMs = 86_400_000;
/** A key that expires within this many days gets a warning. */
const soonDays = 14;

/** How much attention the expiry of a key needs. */
export type Expiry = "never" | "later" | "soon" | "expired";

/** Returns how near the expiry is. @param nowMs milliseconds since 1970 */
export function expiryOf(expiresAt: string | null, nowMs: number): Expiry {
  if (expiresAt === null) return "never";
  const remainingMs = Date.parse(expiresAt) - nowMs;
  if (remainingMs <= 0) return "expired";
  return remainingMs < soonDays * dayMs ? "soon" : "later";
}

/** Returns the time until the expiry, rounded down: `12 days`, `1 day`, `less than a day`. */
export function remaining(expiresAt: string, nowMs: number): string {
  const days = Math.floor((Date.parse(expiresAt) - nowMs) / dayMs);
  if (days < 1) return "less than a day";
  return days === 1 ? "1 day" : `${days} days`;
}
