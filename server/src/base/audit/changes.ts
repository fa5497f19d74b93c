import { isDeepStrictEqual } from "node:util";

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

/**
 * Returns the fields that differ between two versions of a resource, for an audit entry. The
 * versions must not contain secrets, because the audit log shows the result.
 */
export function changes(
  before: object,
  after: object,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const was: Readonly<Record<string, unknown>> = { ...before };
  const is: Readonly<Record<string, unknown>> = { ...after };
  const names = Object.keys({ ...was, ...is }).filter(
    (name) => !omittedFields.includes(name) && !isDeepStrictEqual(was[name], is[name]),
  );
  const pick = (values: typeof was) =>
    Object.fromEntries(names.map((name) => [name, shortened(values[name])]));
  return { before: pick(was), after: pick(is) };
}

function shortened(value: unknown): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (text.length <= maxCharacters) return value;
  // Truncation can split a surrogate pair. PostgreSQL cannot store the remaining half, so
  // `toWellFormed` replaces it.
  return `${text.slice(0, maxCharacters).toWellFormed()} … (${text.length.toLocaleString("en")} characters)`;
}
