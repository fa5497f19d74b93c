/**
 * Returns the number in a field whose number can have decimals; null if the field is blank. A text
 * that is no number, or one that is too large for a number, is returned unchanged, so that the
 * schema rejects it: null would mean that there is no limit.
 */
export function numberIn(value: string | number | null | undefined): string | number | null {
  if (typeof value !== "string") return value ?? null;
  if (value.trim() === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : value;
}

/**
 * Returns the whole number in a field; null if the field is blank. A text with anything but digits
 * is returned unchanged, so that the schema rejects it: in many countries "1.000" is a thousand,
 * and must not be read as 1.
 */
export function wholeNumberIn(value: string | number | null | undefined): string | number | null {
  return typeof value === "string" && !/^\s*\d*\s*$/.test(value) ? value : numberIn(value);
}
