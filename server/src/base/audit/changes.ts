import { isDeepStrictEqual } from "node:util";
import { fieldOf, isJsonObject, type JsonObject } from "../json/index.ts";

/**
 * Maximum characters of a value that an audit entry shows. Values other than strings are measured
 * as JSON. Of a longer value, the entry shows an excerpt and the length.
 */
const maxCharacters = 2_000;
/** Characters before the first difference in an excerpt that does not begin with the value. */
const charactersBefore = 100;
/**
 * Fields that `changes` omits. They change with every update or use, and the audit entry has a time
 * of its own.
 */
const omittedFields = ["updated_at", "last_used_at"];

/** The fields that differ between two versions of a resource, with the values of both. */
type Changes = { readonly before: JsonObject; readonly after: JsonObject };

interface ChangedField {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Returns the fields that differ between two versions of a resource, for an audit entry. The
 * versions must not contain secrets, because the audit log shows the result.
 */
export function changes(before: object, after: object): Changes {
  return differences(withoutOmitted(before), withoutOmitted(after));
}

function withoutOmitted(version: object): JsonObject {
  const fields = Object.entries(version).filter(([name]) => !omittedFields.includes(name));
  return Object.fromEntries(fields);
}

function differences(was: JsonObject, is: JsonObject): Changes {
  const pairs = Object.keys({ ...was, ...is })
    .map((name) => ({ name, before: fieldOf(was, name), after: fieldOf(is, name) }))
    .filter(({ before, after }) => !isDeepStrictEqual(before, after))
    .map(shortenedPair);
  return {
    before: Object.fromEntries(pairs.map(({ name, before }) => [name, before])),
    after: Object.fromEntries(pairs.map(({ name, after }) => [name, after])),
  };
}

/**
 * Shortens both values of a field. An object that is too long is reduced to its fields that differ,
 * because truncation could cut off exactly these.
 */
function shortenedPair({ name, before, after }: ChangedField): ChangedField {
  const isLong = [before, after].some((value) => textOf(value).length > maxCharacters);
  return isLong && isJsonObject(before) && isJsonObject(after)
    ? { name, ...differences(before, after) }
    : { name, before: shortened(before, after), after: shortened(after, before) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/**
 * Returns the value, or an excerpt if it is too long. The excerpt contains the first difference
 * from `other`.
 */
function shortened(value: unknown, other: unknown): unknown {
  const text = textOf(value);
  if (text.length <= maxCharacters) return value;
  const same = samePrefix(text, textOf(other));
  const start = same < maxCharacters - charactersBefore ? 0 : same - charactersBefore;
  const end = start + maxCharacters;
  // Truncation can split a surrogate pair. PostgreSQL cannot store the remaining half, so
  // `toWellFormed` replaces it.
  const excerpt = text.slice(start, end).toWellFormed();
  const length = `(${text.length.toLocaleString("en")} characters)`;
  return [start > 0 && "…", excerpt, end < text.length && "…", length].filter(Boolean).join(" ");
}

/** Returns the number of characters that both texts have in common at their beginning. */
function samePrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
