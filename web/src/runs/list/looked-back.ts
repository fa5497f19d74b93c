/** The digits of the base32 encoding of ids (TypeID), in ascending order. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Returns the time back to which a search has reached, as Unix time in ms; undefined if the cursor
 * does not contain it. Cursors are opaque and later versions can change them. So the time is only
 * displayed, or avoids a repeated search.
 */
export function lookedBackTo(cursor: string): number | undefined {
  const [, time] = /run_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}/.exec(decode(cursor)) ?? [];
  if (time === undefined) return undefined;
  const ms = [...time].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
  // A time outside of the years 2020 to 2100 means that the cursor has another format.
  return ms > 1_577_836_800_000 && ms < 4_102_444_800_000 ? ms : undefined;
}

/**
 * Returns when the newest page of a list was requested, as Unix time in ms of the server.
 * @param cursor `next` of that page, to which `readRuns` has appended the time. If there is none,
 *   returns the earliest time.
 */
export function readAt(cursor: string | null): number {
  return Number(cursor?.split("@")[1] ?? Number.NEGATIVE_INFINITY);
}

function decode(cursor: string): string {
  try {
    // Removes the time that `readRuns` appends to the server's cursor after an `@`.
    return atob(cursor.replace(/@.*/, "").replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
