/** Integers outside of ±2^53 have at least 16 digits. */
const canHaveLargeInteger = /\d{16}/;

/**
 * Returns the value of a JSON document. Integers that a number cannot represent are bigints, so
 * that ids of other systems stay exact. A key `__proto__` is an ordinary key. A byte order mark is
 * skipped, as when the request is received.
 * @throws SyntaxError if it is not JSON; RangeError if it is nested too deeply
 */
export function parsePayload(text: string): unknown {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  if (!canHaveLargeInteger.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && /^-?\d{1,400}$/.test(source) ? BigInt(source) : value;
  });
}

/** Returns a value as JSON, with large integers as they arrived. */
export function toJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(
    value,
    (_key, each: unknown) => (typeof each === "bigint" ? rawJson(String(each)) : each),
    indent,
  );
  return text ?? "null";
}

// TypeScript does not declare JSON.rawJSON (ECMAScript, JSON.parse source text access) yet.
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
