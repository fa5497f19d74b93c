/**
 * Parses the header `Retry-After`: whole seconds or an HTTP date (RFC 9110, section 10.2.3).
 * @returns milliseconds from `now`, 0 if the date has passed; undefined if the header is absent or
 *   invalid.
 */
export function parseRetryAfter(header: string | undefined, now = Date.now()): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // The form is checked first, because `Date.parse` accepts almost any text as a date, even "-3".
  if (!/^[A-Za-z]{3,9},? .* GMT$/.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
