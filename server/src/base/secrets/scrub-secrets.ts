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
  /** Removes secrets from every string and number of a JSON value, and from property names. */
  json(value: unknown): unknown;
}

/** CPU time of one call of a scrubber after which the rest of the text counts as secret. */
const maxSearchMs = 1_000;

/**
 * Maximum number of characters of a text times `totalBytes` for which a search by the regular
 * expression is fast, whatever they contain. A larger search tries each position separately, to be
 * able to stop: if a secret is a long row of equal characters and so is the text, it can take
 * minutes.
 */
const maxUninterruptedSteps = 20_000_000;

/** Returns a scrubber that removes these secrets in all encodings that `secretForms` covers. */
export function scrubberFor(secrets: readonly string[]): Scrubber {
  const { pattern, maxBytes, totalBytes } = secretForms(secrets);
  if (pattern === undefined)
    return {
      maxSecretBytes: 0,
      text: (given) => given,
      prefix: (given, end) => given.slice(0, end),
      json: (value) => value,
    };
  const cleaned = (given: string, end: number, search: Search) => {
    let kept = "";
    let from = 0;
    for (const secret of search.secretsIn(given)) {
      if (secret.start >= end) break;
      kept += given.slice(from, secret.start) + placeholder;
      from = secret.end;
    }
    return from >= end ? kept : kept + given.slice(from, end);
  };
  const cleanedJson = (value: unknown, search: Search): unknown => {
    const text = (given: string) => cleaned(given, given.length, search);
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(`${value}`) === `${value}` ? value : placeholder;
    if (Array.isArray(value)) return value.map((item) => cleanedJson(item, search));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [text(name), cleanedJson(member, search)]),
    );
  };
  const newSearch = () => new Search(pattern, totalBytes);
  return {
    maxSecretBytes: maxBytes,
    text: (given) => cleaned(given, given.length, newSearch()),
    prefix: (given, end) => cleaned(given, end, newSearch()),
    json: (value) => cleanedJson(value, newSearch()),
  };
}

/** Searches the texts of one call of a scrubber. */
class Search {
  readonly #pattern: RegExp;
  readonly #totalBytes: number;
  readonly #start = process.threadCpuUsage();
  /** Steps since the CPU time was read. */
  #steps = 0;
  #isOver = false;

  constructor(pattern: RegExp, totalBytes: number) {
    this.#pattern = pattern;
    this.#totalBytes = totalBytes;
  }

  /** Finds the secrets in a text. Once the time is over, the rest of the text is one secret. */
  *secretsIn(text: string): Iterable<{ readonly start: number; readonly end: number }> {
    const isShort = text.length * this.#totalBytes <= maxUninterruptedSteps;
    if (isShort && !this.#count(text.length)) {
      // Most texts have no secret, and `matchAll` copies the pattern.
      if (text.search(this.#pattern) === -1) return;
      for (const { index, 0: found } of text.matchAll(this.#pattern))
        yield { start: index, end: index + found.length };
      return;
    }
    const here = new RegExp(this.#pattern.source, "yi");
    for (let start = 0; start < text.length; ) {
      if (this.#count(1)) {
        yield { start, end: text.length };
        return;
      }
      here.lastIndex = start;
      if (here.test(text)) {
        yield { start, end: here.lastIndex };
        start = here.lastIndex;
      } else start++;
    }
  }

  /**
   * Counts the characters that are searched next. The CPU time is not read for each of them,
   * because a response can have a hundred thousand short values.
   * @returns whether the time is over.
   */
  #count(characters: number): boolean {
    this.#steps += characters * this.#totalBytes;
    if (this.#isOver || this.#steps < maxUninterruptedSteps) return this.#isOver;
    this.#steps = 0;
    const { user, system } = process.threadCpuUsage(this.#start);
    this.#isOver = user + system > 1_000 * maxSearchMs;
    return this.#isOver;
  }
}
