import { shorten } from "../../base/shorten.ts";
import { storableText } from "../storable.ts";

const maxCharacters = 500;

/**
 * Patterns of credentials, each with its replacement: values after Bearer or Basic, and values that
 * begin like a key of a provider or of Beckon.
 */
const credentialPatterns: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=*-]{8,}/gi, "$1 [secret]"],
  [/\b(?:sk|pk|rk|gsk|xai|whsec|bka|bkw|bkt)[-_][\w*-]{8,}/g, "[secret]"],
  [/\bAIza[\w*-]{16,}/g, "[secret]"],
];

/**
 * Returns a provider's message in a form that can be stored and shown: without credentials, on one
 * line, at most 500 characters. `scrub` removes the API key with which the provider was called.
 * `credentialPatterns` additionally removes most other credentials.
 */
export function providerText(text: string, scrub: (text: string) => string): string {
  const safe = credentialPatterns.reduce(
    (rest, [shape, instead]) => rest.replace(shape, instead),
    scrub(text.slice(0, 100_000)),
  );
  const line = storableText(safe).replace(/\s+/g, " ").trim();
  return shorten(line, maxCharacters);
}
