import { secretForms } from "../../secret-forms.ts";

/** Stands in place of a secret. */
const scrubbed = "[secret]";

/** Takes secrets out of what a server answered: some repeat the request, its headers too. */
export interface Scrubber {
  /** Bytes of the longest form. */
  readonly longest: number;
  text(text: string): string;
  /** The beginning of `text` up to the character `end`, without secrets, also when one reaches beyond. */
  beginning(text: string, end: number): string;
  /** Every text of a JSON value, names too. */
  json(value: unknown): unknown;
}

export function scrubberFor(secrets: readonly string[]): Scrubber {
  const { pattern, maxBytes } = secretForms(secrets);
  const text = (given: string) =>
    pattern === undefined ? given : given.replaceAll(pattern, scrubbed);
  const json = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [text(name), json(member)]),
    );
  };
  return {
    longest: maxBytes,
    text,
    json: (value) => (pattern === undefined ? value : json(value)),
    beginning(given, end) {
      let kept = "";
      let from = 0;
      for (const match of pattern === undefined ? [] : given.matchAll(pattern)) {
        if (match.index >= end) break;
        kept += given.slice(from, match.index) + scrubbed;
        from = match.index + match[0].length;
      }
      return from >= end ? kept : kept + given.slice(from, end);
    },
  };
}
