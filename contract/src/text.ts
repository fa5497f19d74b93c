import { z } from "zod";

/** NUL cannot be stored in PostgreSQL text, and a lone surrogate has no UTF-8 form: both are refused where a person or program sends them. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** Text that can be stored as it is, at most `max` UTF-16 code units. */
export function cleanText(max: number): z.ZodString {
  return z
    .string()
    .max(max)
    .refine(isStorableText, "must not contain NUL or a lone surrogate") as z.ZodString;
}

/** A name shown to people: 1 to 200 characters, not blank. */
export const name = cleanText(200)
  .min(1)
  .refine((text) => text.trim() !== "", "must not be blank");

/** Free data of the caller's, at most 16 KiB as JSON and 32 levels deep; stored and given back, never interpreted. */
export const metadata = z
  .unknown()
  // Before anything else looks into it: what follows calls itself for every level.
  .refine((value) => isStorable(value, 32), {
    error:
      "must not be nested over 32 levels, nor contain NUL, a lone surrogate or a member named __proto__",
    abort: true,
  })
  .pipe(z.record(z.string().max(200), z.json()))
  .refine(
    (value) => JSON.stringify(value).length <= 16_384,
    "must be at most 16,384 characters as JSON",
  )
  .meta({ type: "object" });

/**
 * Whether all text in a JSON value can be stored, names too, and there are at most `levels` lists or objects inside each other. A member
 * named `__proto__` would be lost without a word: objects are not copied with one.
 */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === "string") return isStorableText(value);
  if (typeof value !== "object" || value === null) return true;
  return (
    levels > 0 &&
    Object.entries(value).every(
      ([key, member]) =>
        key !== "__proto__" && isStorableText(key) && isStorable(member, levels - 1),
    )
  );
}
