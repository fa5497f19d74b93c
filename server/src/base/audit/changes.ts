import { isDeepStrictEqual } from "node:util";

/** Characters of a value, as JSON, that a record shows; of a longer one it says how long it was. */
const maxCharacters = 2_000;
/** Every change has its time on record anyway. */
const unsaid = ["updated_at", "last_used_at"];

/** The members that differ, each as it was and as it is: what a record of a change says. Both are as callers see them, without secrets. */
export function changes(
  before: object,
  after: object,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const was: Readonly<Record<string, unknown>> = { ...before };
  const is: Readonly<Record<string, unknown>> = { ...after };
  const names = Object.keys({ ...was, ...is }).filter(
    (name) => !unsaid.includes(name) && !isDeepStrictEqual(was[name], is[name]),
  );
  const pick = (values: typeof was) =>
    Object.fromEntries(names.map((name) => [name, shortened(values[name])]));
  return { before: pick(was), after: pick(is) };
}

function shortened(value: unknown): unknown {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (text.length <= maxCharacters) return value;
  // Not in the middle of a character: half of one cannot be stored.
  return `${text.slice(0, maxCharacters).toWellFormed()} … (${text.length.toLocaleString("en")} characters)`;
}
