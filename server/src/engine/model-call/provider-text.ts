import { storableText } from "../storable.ts";

const maxCharacters = 500;

/**
 * Patterns of credentials: values after Bearer or Basic, and key prefixes of providers and of
 * Beckon.
 */
const credentialPatterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=*-]{8,}/gi, "$1 [secret]"],
  [/\b(?:sk|pk|rk|gsk|xai|whsec|bka|bkw|bkt)[-_][\w*-]{8,}/g, "[secret]"],
  [/\bAIza[\w*-]{16,}/g, "[secret]"],
];

/**
 * Returns a provider's message for our journal and callers: without credentials, on one line, at
 * most 500 characters. `scrub` removes the key in use reliably; the patterns are defence in depth.
 */
export function providerText(text: string, scrub: (text: string) => string): string {
  const safe = credentialPatterns.reduce(
    (rest, [shape, instead]) => rest.replace(shape, instead),
    scrub(text.slice(0, 100_000)),
  );
  const line = storableText(safe).replace(/\s+/g, " ").trim();
  return line.length <= maxCharacters
    ? line
    : `${line.slice(0, maxCharacters - 1).toWellFormed()}…`;
}
