/** Integers outside of ±2^53 have at least this many digits. */
const minDigits = 16;

/**
 * Returns whether the text can have an integer outside of ±2^53. Reads only every 16th character:
 * such an integer has at least 16 digits in a row, so one of them is always read. This is so fast
 * that every text can be checked.
 */
function canHaveLargeInteger(text: string): boolean {
  for (let at = minDigits - 1; at < text.length; at += minDigits) {
    if (!isDigit(text, at)) continue;
    let start = at;
    while (isDigit(text, start - 1)) start--;
    let end = at + 1;
    while (isDigit(text, end)) end++;
    // Digits after a point are the decimals of a fraction, not an integer.
    if (end - start >= minDigits && text[start - 1] !== ".") return true;
    at = end;
  }
  return false;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/**
 * Returns the object in the text of a `jsonb` column. Integers outside of ±2^53 become
 * `RawNumber`s, which keep all digits. `pg` would round them if it parsed the column.
 */
export function parseJsonColumn(text: string): Record<string, unknown> {
  return parseExactly(text, rawNumber) as Record<string, unknown>;
}

/**
 * Returns a record with the object in the text of a `jsonb` column as its `data`. The text is
 * parsed each time that `data` is read. Use this for records that can wait for a slow reader: a
 * parsed text can take more than 20 times its memory.
 */
export function withData<R extends object>(
  record: R,
  text: string,
): R & { readonly data: Record<string, unknown> } {
  return {
    ...record,
    get data() {
      return parseJsonColumn(text);
    },
  };
}

/**
 * Parses a JSON document like `JSON.parse`, but does not round integers outside of ±2^53, for
 * example ids of other systems. The result of `convert` replaces each of them.
 * @param convert gets the digits of the integer, after a minus sign if it is negative.
 * @throws SyntaxError if the text is not JSON
 */
export function parseExactly(text: string, convert: (digits: string) => unknown): unknown {
  if (!canHaveLargeInteger(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    // A number beyond ±1.8e308 stays infinite. Its digits are not kept, because PostgreSQL cannot
    // store every such number: a `numeric` has at most 131,072 digits before the point.
    if (typeof value !== "number" || Number.isSafeInteger(value) || !Number.isFinite(value))
      return value;
    const source = context?.source;
    return source !== undefined && /^-?\d+$/.test(source) ? convert(source) : value;
  });
}

/** A number that `JSON.stringify` writes as it is in `rawJSON`. */
export interface RawNumber {
  readonly rawJSON: string;
}

// TypeScript does not declare these functions (ECMAScript, JSON.parse source text access) yet.
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
};

/** Returns a number with these digits that `JSON.stringify` writes without rounding. */
export const rawNumber = rawJSON;

/** Returns whether a value was made by `rawNumber`. */
export const isRawNumber = isRawJSON;
