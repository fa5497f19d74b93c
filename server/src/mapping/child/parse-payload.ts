import { randomUUID } from "node:crypto";

/**
 * Returns the value of a JSON document. Integers that a number cannot represent are bigints, so
 * that ids of other systems stay exact. A key `__proto__` is an ordinary key. A byte order mark is
 * skipped, as when the request is received.
 * @throws SyntaxError if it is not JSON; RangeError if it is nested too deeply
 */
export function parsePayload(text: string): unknown {
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  const marked = markLargeIntegers(json);
  const value: unknown = JSON.parse(marked);
  return marked === json ? value : withBigInts(value);
}

/** Maximum levels of arrays and objects in nested JSON text. A payload has the same limit. */
const maxLevels = 200;

/**
 * The function `parse_json` of filters and templates: returns the value of JSON text inside a
 * payload, as `parsePayload` does.
 * @throws Error if it is not JSON, or is nested too deeply. The message has no part of the text.
 */
export function parseNested(text: string): unknown {
  let value: unknown;
  try {
    value = parsePayload(text);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw new Error("The text for parse_json is not JSON");
  }
  if (value === undefined || isNestedDeeper(value, maxLevels))
    throw new Error(`The text for parse_json is nested more than ${maxLevels} levels deep`);
  return value;
}

function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isNestedDeeper(each, levels - 1));
}

/**
 * Key of the objects that stand for large integers while JSON is parsed. It is random, so that no
 * payload has it. Rejected option: a reviver. With one, `JSON.parse` of 1 MiB of short numbers
 * takes longer than an evaluation is allowed to.
 */
const marker = randomUUID();

/**
 * Returns the JSON with an object in place of each integer that a number cannot represent. Integers
 * of more than 400 digits are left as they are, and `JSON.parse` reads them as ±Infinity.
 */
function markLargeIntegers(json: string): string {
  const parts: string[] = [];
  let copied = 0;
  let string = nextString(json, 0);
  // Integers outside of ±2^53 have at least 16 digits.
  for (const { 0: token, index } of json.matchAll(/[-+.\deE]{16,}/g)) {
    while (string.end <= index) string = nextString(json, string.end);
    const isInString = string.start < index;
    if (isInString || !/^-?[1-9]\d{15,399}$/.test(token) || Number.isSafeInteger(Number(token)))
      continue;
    parts.push(json.slice(copied, index), `{"${marker}":"${token}"}`);
    copied = index + token.length;
  }
  return parts.length === 0 ? json : parts.join("") + json.slice(copied);
}

/**
 * Returns the index of the next string's opening quote, and the index after its closing quote. A
 * missing quote is at Infinity.
 * @param from an index outside of strings
 */
function nextString(json: string, from: number): { start: number; end: number } {
  const start = json.indexOf('"', from);
  if (start < 0) return { start: Infinity, end: Infinity };
  let end = json.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return { start, end: end < 0 ? Infinity : end + 1 };
}

/** Returns whether the number of backslashes before an index is odd. */
function isEscaped(json: string, at: number): boolean {
  let start = at;
  while (json[start - 1] === "\\") start--;
  return (at - start) % 2 === 1;
}

/**
 * Returns the value with a bigint in place of each object that `markLargeIntegers` inserted.
 * Changes arrays and objects in place.
 */
function withBigInts(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    value.forEach((each, index) => {
      value[index] = withBigInts(each);
    });
    return value;
  }
  const fields = value as Record<string, unknown>;
  const digits = fields[marker];
  if (typeof digits === "string") return BigInt(digits);
  // A field `__proto__` is an own property, so assigning to it does not change the prototype.
  for (const key of Object.keys(fields)) fields[key] = withBigInts(fields[key]);
  return fields;
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
