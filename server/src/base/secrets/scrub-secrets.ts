import { LiteralSearch, type Match, merged } from "./literal-search.ts";
import { lowerCase, secretForms } from "./secret-forms.ts";
import { withoutEscapes } from "./without-escapes.ts";

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
  /** Removes secrets from every string and number of a JSON value, and from property names. */
  json(value: unknown): unknown;
}

/**
 * Returns a scrubber that removes these secrets in all encodings that `secretForms` covers. Its
 * time is proportional to the length of the text, whatever secrets and text contain.
 */
export function scrubberFor(secrets: readonly string[]): Scrubber {
  const forms = secretForms(secrets);
  const encoded = new LiteralSearch(forms.encoded);
  const unescaped = new LiteralSearch(forms.unescaped);
  const minLength = Math.min(
    ...[...forms.encoded, ...forms.unescaped].map(({ text }) => text.length),
  );
  const secretsIn = (given: string): readonly Match[] => {
    if (given.length < minLength) return [];
    const { text, starts } = withoutEscapes(given);
    const found = unescaped.matchesIn(text);
    // Without escapes, the text has no other form.
    if (starts === undefined) return merged(found);
    const positions = found.map(({ start, end }) => ({
      start: starts[start] ?? 0,
      end: starts[end] ?? given.length,
    }));
    return merged([...positions, ...encoded.matchesIn(lowerCase(given))]);
  };
  const prefix = (given: string, end: number) => {
    let kept = "";
    let from = 0;
    for (const secret of secretsIn(given)) {
      if (secret.start >= end) break;
      kept += given.slice(from, secret.start) + placeholder;
      from = secret.end;
    }
    return from >= end ? kept : kept + given.slice(from, end);
  };
  const text = (given: string) => prefix(given, given.length);
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(`${value}`) === `${value}` ? value : placeholder;
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [text(name), json(member)]),
    );
  };
  return { maxSecretBytes: forms.maxBytes, text, prefix, json };
}
