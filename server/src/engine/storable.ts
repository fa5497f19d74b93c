import { isStorableText } from "@beckon/contract";
import { isJsonObject } from "../base/json/index.ts";

const replacement = "\uFFFD";

/**
 * Returns `text` with each NUL and each lone surrogate replaced by U+FFFD. Models and tools can
 * write these characters, but PostgreSQL cannot store them.
 */
export function storableText(text: string): string {
  const formed = text.isWellFormed() ? text : text.toWellFormed();
  return formed.includes("\u0000") ? formed.replaceAll("\u0000", replacement) : formed;
}

/**
 * Returns a JSON value in which `storableText` was applied to every string, including the names of
 * fields. Usually returns the same object if nothing changed.
 */
export function storableJson(value: unknown): unknown {
  // JSON.stringify writes these escapes for NUL and for lone surrogates. A value with the text of
  // such an escape in a string matches too. It is then copied without a change.
  return /\\u0000|\\ud[89a-f]/.test(JSON.stringify(value) ?? "") ? toStorable(value) : value;
}

function toStorable(value: unknown): unknown {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(toStorable);
  if (!isJsonObject(value)) return value;
  // `fromEntries` defines own properties, so a field named `__proto__` stays a field.
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [storableText(key), toStorable(member)]),
  );
}

/**
 * Returns JSON text that PostgreSQL can store and that has the same value. NUL and lone surrogates
 * are replaced by escapes.
 */
export function storableJsonText(text: string): string {
  if (isStorableText(text)) return text;
  // `\\.` matches a backslash and the character after it. If that character is NUL or a lone
  // surrogate, the text is invalid JSON. An escape after the backslash could make it valid JSON
  // with another value. So the character is replaced by U+FFFD, which keeps the text invalid, and
  // the tool call is rejected. `\p{Cs}` matches only lone surrogates.
  return text.replace(/\\.|[\0\p{Cs}]/gsu, (part) =>
    part.length > 1 ? storableText(part) : `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Returns the location of the first string that cannot be stored, for example `items[0].name`;
 * undefined if there is none.
 */
export function unstorableIn(value: unknown, location = ""): string | undefined {
  if (typeof value === "string") return isStorableText(value) ? undefined : location || "the value";
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (!isStorableText(name)) return `the name ${storableText(name)}`;
    const inside = Array.isArray(value)
      ? `${location}[${name}]`
      : `${location}${location && "."}${name}`;
    const found = unstorableIn(member, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}
