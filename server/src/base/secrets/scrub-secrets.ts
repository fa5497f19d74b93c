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
 * Maximum number of characters of a text times `totalBytes` for which one search by the regular
 * expression is fast, whatever they contain. A larger search tries each position separately, to be
 * able to stop: if a secret is a long row of equal characters and so is the text, it can take
 * minutes.
 */
const maxUninterruptedSteps = 20_000_000;

/** How many positions are tried before the CPU time is read again. */
const positionsPerCheck = 64;

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
  const cleaned = (given: string, end: number, isOver: () => boolean) => {
    let kept = "";
    let from = 0;
    for (const secret of findSecrets(given, { pattern, totalBytes, isOver })) {
      if (secret.start >= end) break;
      kept += given.slice(from, secret.start) + placeholder;
      from = secret.end;
    }
    return from >= end ? kept : kept + given.slice(from, end);
  };
  const cleanedJson = (value: unknown, isOver: () => boolean): unknown => {
    const text = (given: string) => cleaned(given, given.length, isOver);
    if (typeof value === "string") return text(value);
    if (typeof value === "number") return text(`${value}`) === `${value}` ? value : placeholder;
    if (Array.isArray(value)) return value.map((item) => cleanedJson(item, isOver));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [text(name), cleanedJson(member, isOver)]),
    );
  };
  return {
    maxSecretBytes: maxBytes,
    text: (given) => cleaned(given, given.length, startSearch()),
    prefix: (given, end) => cleaned(given, end, startSearch()),
    json: (value) => cleanedJson(value, startSearch()),
  };
}

/** Returns a function that returns whether `maxSearchMs` of CPU time have passed since then. */
function startSearch(): () => boolean {
  const start = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(start);
    return user + system > 1_000 * maxSearchMs;
  };
}

/** Finds the secrets in a text. Once `isOver` returns true, the rest of the text is one secret. */
function* findSecrets(
  text: string,
  {
    pattern,
    totalBytes,
    isOver,
  }: {
    readonly pattern: RegExp;
    readonly totalBytes: number;
    readonly isOver: () => boolean;
  },
): Iterable<{ readonly start: number; readonly end: number }> {
  const isShort = text.length * totalBytes <= maxUninterruptedSteps;
  if (isShort && !isOver()) {
    for (const { index, 0: found } of text.matchAll(pattern))
      yield { start: index, end: index + found.length };
    return;
  }
  const here = new RegExp(pattern.source, "yi");
  for (let start = 0, tried = 0; start < text.length; tried++) {
    if (tried % positionsPerCheck === 0 && isOver()) {
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
