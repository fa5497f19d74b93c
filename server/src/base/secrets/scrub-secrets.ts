import { LiteralIndex, type Match } from "./literal-index.ts";
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
const defaultMaxSearchMs = 1_000;

/**
 * Maximum number of characters of a text times `totalBytes` for which a search by the regular
 * expression is fast, whatever they contain. A larger search tries each position separately, to be
 * able to stop: if a secret is a long row of equal characters and so is the text, it can take
 * minutes.
 */
const maxUninterruptedSteps = 20_000_000;

/**
 * Returns a scrubber that removes these secrets in all encodings that `secretForms` covers.
 * @param maxSearchMs CPU time of one call, in milliseconds, after which the rest of the text counts
 *   as secret.
 */
export function scrubberFor(
  secrets: readonly string[],
  { maxSearchMs = defaultMaxSearchMs } = {},
): Scrubber {
  const { pattern, literals, maxBytes, totalBytes } = secretForms(secrets);
  if (pattern === undefined && literals.length === 0)
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
  const index = literals.length === 0 ? undefined : new LiteralIndex(literals);
  const newSearch = () => new Search({ pattern, index, totalBytes, maxSearchMs });
  return {
    maxSecretBytes: maxBytes,
    text: (given) => cleaned(given, given.length, newSearch()),
    prefix: (given, end) => cleaned(given, end, newSearch()),
    json: (value) => cleanedJson(value, newSearch()),
  };
}

interface SearchOptions {
  readonly pattern: RegExp | undefined;
  readonly index: LiteralIndex | undefined;
  readonly totalBytes: number;
  readonly maxSearchMs: number;
}

/** Searches the texts of one call of a scrubber. */
class Search {
  readonly #options: SearchOptions;
  readonly #start = process.threadCpuUsage();
  /** Steps since the CPU time was read. */
  #steps = 0;
  #isOver = false;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Finds the secrets in a text. Once the time is over, the rest of the text is one secret. */
  secretsIn(text: string): Iterable<Match> {
    const { pattern, index } = this.#options;
    const byPattern = pattern === undefined ? [] : this.#matchesOf(pattern, text);
    if (index === undefined) return byPattern;
    // The index is first, because its search is short: the pattern's can use up the time.
    return merged([...index.matchesIn(text, (steps) => this.#count(steps)), ...byPattern]);
  }

  *#matchesOf(pattern: RegExp, text: string): Iterable<Match> {
    const { totalBytes } = this.#options;
    const isShort = text.length * totalBytes <= maxUninterruptedSteps;
    if (isShort && !this.#count(text.length * totalBytes)) {
      // Most texts have no secret, and `matchAll` copies the pattern.
      if (text.search(pattern) === -1) return;
      for (const { index, 0: found } of text.matchAll(pattern))
        yield { start: index, end: index + found.length };
      return;
    }
    const here = new RegExp(pattern.source, "yi");
    for (let start = 0; start < text.length; ) {
      if (this.#count(totalBytes)) {
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
   * Counts the steps of what is searched next. The CPU time is not read each time, because a
   * response can have a hundred thousand short values.
   * @returns whether the time is over.
   */
  #count(steps: number): boolean {
    this.#steps += steps;
    if (this.#isOver || this.#steps < maxUninterruptedSteps) return this.#isOver;
    this.#steps = 0;
    const { user, system } = process.threadCpuUsage(this.#start);
    this.#isOver = user + system > 1_000 * this.#options.maxSearchMs;
    return this.#isOver;
  }
}

/** Returns matches in the order of the text. Those that overlap become one. */
function merged(matches: readonly Match[]): Match[] {
  const result: Match[] = [];
  for (const match of matches.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1);
    if (last === undefined || match.start >= last.end) result.push(match);
    else if (match.end > last.end) result[result.length - 1] = { ...last, end: match.end };
  }
  return result;
}
