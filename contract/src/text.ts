import { z } from "zod";

/** NUL cannot be stored in PostgreSQL text, and a lone surrogate has no UTF-8 form: both are refused where a person or program sends them. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** Text that can be stored as it is, at most `max` UTF-16 code units. */
export function cleanText(max: number): z.ZodString {
  return z.string().max(max).refine(isStorableText, "must not contain NUL or a lone surrogate") as z.ZodString;
}

/** A name shown to people: 1 to 200 characters, not blank. */
export const name = cleanText(200)
  .min(1)
  .refine((text) => text.trim() !== "", "must not be blank");

/** Free data of the caller's, at most 16 KiB as JSON; stored and given back, never interpreted. */
export const metadata = z
  .record(cleanText(200), z.json())
  .refine((value) => JSON.stringify(value).length <= 16_384, "must be at most 16,384 characters as JSON")
  .refine((value) => isStorableText(JSON.stringify(value).replaceAll("\\u0000", "\u0000")), "must not contain NUL or a lone surrogate");
