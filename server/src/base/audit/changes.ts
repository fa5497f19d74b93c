import { isDeepStrictEqual } from "node:util";
import { fieldOf, isJsonObject, type JsonObject } from "../json/index.ts";

/**
 * Maximum characters of a value that an audit entry shows. Values other than strings are measured
 * as JSON. A longer value is truncated and its length is appended.
 */
const maxCharacters = 2_000;
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
    : { name, before: shortened(before), after: shortened(after) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function shortened(value: unknown): unknown {
  const text = textOf(value);
  if (text.length <= maxCharacters) return value;
  // Truncation can split a surrogate pair. PostgreSQL cannot store the remaining half, so
  // `toWellFormed` replaces it.
  return `${text.slice(0, maxCharacters).toWellFormed()} … (${text.length.toLocaleString("en")} characters)`;
}
