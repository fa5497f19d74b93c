import { secretForms } from "./secret-forms.ts";

const placeholder = "[secret]";

/** Removes secrets from responses, because some servers repeat the request and its headers. */
export interface Scrubber {
  /** Maximum length in bytes of a secret in any of the encodings that are removed. */
  readonly maxSecretBytes: number;
  text(text: string): string;
  /**
   * Returns the first `end` characters of `text` without secrets. A secret that crosses `end` is
   * removed too.
   */
  prefix(text: string, end: number): string;
  /** Removes secrets from every string of a JSON value, including property names. */
  json(value: unknown): unknown;
}

/** Returns a scrubber that removes these secrets in all encodings that `secretForms` covers. */
export function scrubberFor(secrets: readonly string[]): Scrubber {
  const { pattern, maxBytes } = secretForms(secrets);
  const text = (given: string) =>
    pattern === undefined ? given : given.replaceAll(pattern, placeholder);
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [text(name), json(member)]),
    );
  };
  return {
    maxSecretBytes: maxBytes,
    text,
    json: (value) => (pattern === undefined ? value : json(value)),
    prefix(given, end) {
      if (given.length <= end) return text(given);
      let kept = "";
      let from = 0;
      for (const match of pattern === undefined ? [] : given.matchAll(pattern)) {
        if (match.index >= end) break;
        kept += given.slice(from, match.index) + placeholder;
        from = match.index + match[0].length;
      }
      return from >= end ? kept : kept + given.slice(from, end);
    },
  };
}
