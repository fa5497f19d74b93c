import { storableText } from "../storable.ts";

const longest = 500;

/** Shapes of credentials: what follows Bearer or Basic, and the prefixes under which providers and Beckon itself issue keys. */
const credentials: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=*-]{8,}/gi, "$1 [secret]"],
  [/\b(?:sk|pk|rk|gsk|xai|whsec|bka|bkw|bkt)[-_][\w*-]{8,}/g, "[secret]"],
  [/\bAIza[\w*-]{16,}/g, "[secret]"],
];

/**
 * Words of a provider made fit for our journal and our callers: without credentials, on one line, at most 500 characters.
 * `scrub` removes the key in use, which alone is certain; the shapes are a second net.
 */
export function providerText(text: string, scrub: (text: string) => string): string {
  const safe = credentials.reduce(
    (rest, [shape, instead]) => rest.replace(shape, instead),
    scrub(text.slice(0, 100_000)),
  );
  const line = storableText(safe).replace(/\s+/g, " ").trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
}
