import type { Literal } from "./literal-index.ts";

/**
 * A regular expression and texts that find secrets in a response, as plain text and in common
 * encodings, because a server may repeat the secret that it was sent.
 */
export interface SecretForms {
  /** The regular expression, with the flags `g` and `i`; undefined if it would be empty. */
  readonly pattern: RegExp | undefined;
  /** The encoded secrets for which the pattern has no space. Empty unless the secrets are long. */
  readonly literals: readonly Literal[];
  /** Maximum length in bytes of an encoded secret. */
  readonly maxBytes: number;
  /**
   * Sum of the maximum lengths of all encoded secrets in the pattern: how many characters it
   * compares at most at one position of a text, apart from a constant factor.
   */
  readonly totalBytes: number;
}

interface Form {
  readonly source: string;
  readonly maxBytes: number;
  /** Returns the usual texts of this form, for a search without the pattern. */
  readonly literals: () => readonly Literal[];
}

/**
 * Maximum length of the pattern's source. V8 compiles a pattern of this length in tens of
 * milliseconds. It compiles one of 200,000 characters, as 4,000 dashes need, for a second, or
 * throws at its first use because its stack is exceeded.
 */
const maxSourceLength = 8_192;

/**
 * Minimum number of characters of a hex or base64 form, and of decoded basic credentials, that are
 * searched for. Shorter ones would match ordinary words. A secret itself is searched for at any
 * length.
 */
const minLength = 6;

/**
 * Returns what finds each secret in the following encodings: plain text; escaped as in
 * JSON, URLs, forms and HTML; hex; base64 and base64url, at any offset of a longer text. If a
 * secret is the base64 of credentials of basic authentication, these credentials and the password
 * alone are also found. Other encodings are not found. No list can be complete, because a server
 * that has the secret can encode it in any way. The longest forms are literals if the pattern
 * would be too long: these find only what usual encoders write, not every mixture of escapes.
 */
export function secretForms(secrets: readonly string[]): SecretForms {
  const parts = secrets.flatMap(basicCredentials).filter((part) => part.length >= minLength);
  const forms = [...new Set([...secrets, ...parts])]
    .filter((secret) => secret !== "")
    .flatMap(formsOf);
  let left = maxSourceLength;
  const bySource = new Map(forms.map((form) => [form.source, form]));
  const [short, long]: [Form[], Form[]] = [[], []];
  for (const form of [...bySource.values()].sort((a, b) => a.source.length - b.source.length)) {
    left -= form.source.length;
    (left < 0 ? long : short).push(form);
  }
  const sources = short.sort((a, b) => b.maxBytes - a.maxBytes).map(({ source }) => source);
  return {
    pattern: sources.length === 0 ? undefined : new RegExp(sources.join("|"), "gi"),
    literals: long.flatMap(({ literals }) => literals()),
    maxBytes: forms.reduce((max, form) => Math.max(max, form.maxBytes), 0),
    totalBytes: short.reduce((sum, { maxBytes }) => sum + maxBytes, 0),
  };
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    {
      source: secret.replace(/\\+|[^a-z0-9]/giu, (part) =>
        part.startsWith("\\") ? escapesOfBackslashes(part.length) : escapesOf(part),
      ),
      maxBytes: bytes.length * maxBytesPerCharacter,
      literals: () => escapedTexts(secret).map((text) => ({ text })),
    },
    ...(hex.length < minLength
      ? []
      : [{ source: hex, maxBytes: hex.length, literals: () => [{ text: hex }] }]),
    ...[0, 1, 2].flatMap((offset) => base64At(offset, bytes)),
  ];
}

/** Returns a secret as it is and as usual encoders escape it. */
function escapedTexts(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.toWellFormed());
  const html = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const unicode = (text: string, characters: RegExp) =>
    text.replace(characters, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [
    secret,
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    // Encoders of JSON that make it safe in HTML.
    unicode(json, /[<>&]/g),
    unicode(json, /[<>&'+]/g),
    percent,
    percent.replace(/[!'()*~]/g, (each) => `%${each.charCodeAt(0).toString(16)}`),
    `${new URLSearchParams([["", secret]])}`.slice(1),
    html,
    html.replaceAll('"', "&quot;"),
    html.replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
    html.replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
    html.replaceAll('"', "&#34;").replaceAll("'", "&#39;"),
  ];
}

/** Maximum bytes of one escaped character, for example of `&#x0026;`. */
const maxBytesPerCharacter = 8;

const htmlNames: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/**
 * Returns a pattern that matches any escape of one non-alphanumeric character. The unescaped
 * character matches too, because encoders differ in which characters they escape.
 */
function escapesOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
  const name = htmlNames[character];
  const escapes = [
    // JSON may escape the character, and JSON inside JSON may escape it again.
    `\\\\{0,3}${literal}`,
    `\\\\{1,2}u${code.toString(16).padStart(4, "0")}`,
    Buffer.from(character).toString("hex").replace(/../g, "%$&"),
    `&#0{0,2}${code};`,
    `&#x0{0,2}${code.toString(16)};`,
    ...(character === " " ? ["\\+"] : []),
    ...(name === undefined ? [] : [`&${name};`]),
  ];
  return `(?:${escapes.join("|")})`;
}

/**
 * Returns a pattern that matches any escape of `count` backslashes in a row. The backslashes are
 * not matched one by one: JSON writes one as two, JSON inside JSON as four, and a long row of
 * backslashes can be divided into such groups in so many ways that a search would be endless.
 */
function escapesOfBackslashes(count: number): string {
  const rows = [4, 2, 1].map((times) => `\\\\{${times * count}}`);
  return `(?:${rows.join("|")}|(?:\\\\{1,2}u005c|%5c|&#0{0,2}92;|&#x0{0,2}5c;){${count}})`;
}

/**
 * Matches one base64 character of either alphabet, including percent-encoded `+` and `/`, and
 * slashes that JSON has escaped.
 */
const base64Character = "(?:[a-z0-9+_-]|\\\\{0,3}/|%2[BF])";

/**
 * Returns a list with the pattern that finds the secret in the base64 of a longer text, or an empty
 * list if the pattern would be too short. `offset` is the secret's byte position in the longer
 * text, modulo 3. Some base64 characters at the start and end of the secret also encode bits of a
 * neighbouring byte; there the pattern accepts any base64 character.
 */
function base64At(offset: number, bytes: Buffer): Form[] {
  const bits = 8 * (offset + bytes.length);
  const known = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  if (known.length < minLength) return [];
  const middle = known.replace(/[+/]/g, (character) =>
    character === "+" ? "(?:[+-]|%2B)" : "(?:\\\\{0,3}/|_|%2F)",
  );
  const joinsBefore = offset !== 0;
  const joinsAfter = bits % 6 !== 0;
  const optional = `${base64Character}?`;
  return [
    {
      source: `${joinsBefore ? optional : ""}${middle}${joinsAfter ? optional : ""}`,
      maxBytes: 4 * (known.length + 2),
      literals: () =>
        [
          known,
          known.replaceAll("+", "-").replaceAll("/", "_"),
          encodeURIComponent(known),
          known.replaceAll("/", "\\/"),
        ].map((text) => ({ text, joinsBefore, joinsAfter })),
    },
  ];
}

function basicCredentials(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)
    ? [decoded, decoded.slice(decoded.indexOf(":") + 1)]
    : [];
}
