/**
 * A regular expression that finds secrets in a response, as plain text and in common encodings,
 * because a server may repeat the secret that it was sent.
 */
export interface SecretForms {
  /** The regular expression, with the flags `g` and `i`; undefined if there are no secrets. */
  readonly pattern: RegExp | undefined;
  /** Maximum length in bytes of an encoded secret. */
  readonly maxBytes: number;
  /**
   * Sum of the maximum lengths of all secrets in all encodings: how many characters the pattern
   * compares at most at one position of a text, apart from a constant factor.
   */
  readonly totalBytes: number;
}

interface Form {
  readonly source: string;
  readonly maxBytes: number;
}

/**
 * Minimum number of characters of a hex or base64 form, and of decoded basic credentials, that are
 * searched for. Shorter ones would match ordinary words. A secret itself is searched for at any
 * length.
 */
const minLength = 6;

/**
 * Returns a pattern that finds each secret in the following encodings: plain text; escaped as in
 * JSON, URLs, forms and HTML; hex; base64 and base64url, at any offset of a longer text. If a
 * secret is the base64 of credentials of basic authentication, the pattern also finds these
 * credentials and the password alone. Other encodings are not found. No list can be complete,
 * because a server that has the secret can encode it in any way.
 */
export function secretForms(secrets: readonly string[]): SecretForms {
  const parts = secrets.flatMap(basicCredentials).filter((part) => part.length >= minLength);
  const forms = [...new Set([...secrets, ...parts])]
    .filter((secret) => secret !== "")
    .flatMap(formsOf);
  const sources = new Set(
    forms.sort((a, b) => b.maxBytes - a.maxBytes).map(({ source }) => source),
  );
  return {
    pattern: sources.size === 0 ? undefined : new RegExp([...sources].join("|"), "gi"),
    maxBytes: Math.max(0, ...forms.map(({ maxBytes }) => maxBytes)),
    totalBytes: forms.reduce((sum, { maxBytes }) => sum + maxBytes, 0),
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
    },
    ...(hex.length < minLength ? [] : [{ source: hex, maxBytes: hex.length }]),
    ...[0, 1, 2].flatMap((offset) => base64At(offset, bytes)),
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
  const source = `${offset === 0 ? "" : `${base64Character}?`}${middle}${bits % 6 === 0 ? "" : `${base64Character}?`}`;
  return [{ source, maxBytes: 4 * (known.length + 2) }];
}

function basicCredentials(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)
    ? [decoded, decoded.slice(decoded.indexOf(":") + 1)]
    : [];
}
