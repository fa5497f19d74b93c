import { z } from "zod";

/**
 * Returns whether PostgreSQL can store the text: `text` columns cannot hold NUL, and a lone
 * surrogate cannot be encoded as UTF-8.
 */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** Returns the schema of storable text of at most `max` UTF-16 code units. */
export function cleanText(max: number): z.ZodString {
  return (
    z
      .string()
      // Aborts, so that no later check gets a longer text: some checks take time that is not
      // proportional to the length.
      .max(max, { abort: true })
      .refine(isStorableText, "must not contain NUL or a lone surrogate") as z.ZodString
  );
}

/** A name shown to people: 1 to 200 characters, not blank. */
export const name = cleanText(200)
  .min(1)
  .refine((text) => text.trim() !== "", "must not be blank");

/** Any JSON value, at most 32 levels deep. */
export const jsonValue = z.unknown().refine((value) => isStorable(value, 32), {
  error: "must be at most 32 levels deep, without NUL, a lone surrogate or a field named __proto__",
  abort: true,
});

/** Maximum length of metadata as JSON, in UTF-16 code units. */
export const maxMetadataCharacters = 16_384;

/**
 * Any JSON object, at most 16,384 characters and 32 levels deep. Beckon stores it for the client
 * and does not interpret it.
 */
export const metadata = jsonValue
  // `jsonValue` checks the depth first. The checks below recurse without a limit, so a deeply
  // nested value would overflow the stack.
  .refine((value) => (JSON.stringify(value) ?? "").length <= maxMetadataCharacters, {
    error: `must be at most ${maxMetadataCharacters.toLocaleString("en")} characters as JSON`,
    abort: true,
  })
  // Before `z.json`, whose error for a number that is too large does not say what is wrong.
  .superRefine((value, context) => {
    const path = pathOfRounded(value);
    if (path !== undefined)
      context.addIssue({ code: "custom", path: [...path], message: roundedMessage });
  })
  .pipe(z.record(z.string().max(200), z.json()))
  .meta({ type: "object" });

/** Error for the value that `pathOfRounded` finds. */
export const roundedMessage =
  "is an integer beyond ±9,007,199,254,740,991, which JSON parsers round: write it as text";

/**
 * Returns the path of the first integer outside of ±2^53 in a JSON value, or undefined if there is
 * none. Such an integer may differ from the one that was written: `JSON.parse` has rounded it, from
 * 2^1024 on to `Infinity`, which would be stored as null.
 */
export function pathOfRounded(value: unknown): readonly (string | number)[] | undefined {
  // Numbers beyond ±2^53 have no fraction.
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER ? [] : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const path = pathOfRounded(each);
    if (path !== undefined) return [Array.isArray(value) ? Number(key) : key, ...path];
  }
  return undefined;
}

/**
 * Returns whether a value was made by `JSON.rawJSON`. The server represents large integers by such
 * objects. TypeScript does not declare this function yet, and not every runtime has it.
 */
const { isRawJSON } = JSON as unknown as { isRawJSON?: (value: unknown) => boolean };

/**
 * Returns whether all strings and field names of a JSON value can be stored and the value is nested
 * at most `levels` deep. Fields named `__proto__` are rejected, because copying the value would
 * silently lose them.
 */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value !== "object" || value === null || isRawJSON?.(value)) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, member]) =>
        key !== "__proto__" && isStorableText(key) && isStorable(member, levels - 1),
    )
  );
}
