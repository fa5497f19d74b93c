/** Base32 of ids (TypeID), in ascending order. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

/**
 * Returns the time back to which a search has looked, as Unix time in ms, if the cursor tells it.
 * Cursors are opaque: this one is only shown, and undefined if a later version writes others.
 */
export function lookedBackTo(cursor: string): number | undefined {
  const [, time] = /run_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}/.exec(decode(cursor)) ?? [];
  if (time === undefined) return undefined;
  const ms = [...time].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
  // Years 2020 to 2100: anything else is not what it looks like.
  return ms > 1_577_836_800_000 && ms < 4_102_444_800_000 ? ms : undefined;
}

function decode(cursor: string): string {
  try {
    return atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}
