/** A regular expression for secrets in the forms in which servers repeat them. */
export interface SecretForms {
  /** Global; undefined if there is no secret. */
  readonly pattern: RegExp | undefined;
  /** Length in bytes of the longest form. */
  readonly maxBytes: number;
}

interface Form {
  readonly source: string;
  readonly maxBytes: number;
}

/** Pieces of a secret, and encodings of one, below this length would be found in words that are no secret. */
const minLength = 6;

/**
 * Finds each secret as it is, as JSON, URLs, forms and HTML write it, in hex, and in base64 and base64url at any place of a longer
 * text. Of a secret that is basic authentication, also user and password. A server that disguises it otherwise cannot be helped
 * against: it was given the secret.
 */
export function secretForms(secrets: readonly string[]): SecretForms {
  const parts = secrets.flatMap(basicParts).filter((part) => part.length >= minLength);
  const forms = [...new Set([...secrets, ...parts])]
    .filter((secret) => secret !== "")
    .flatMap(formsOf);
  const sources = new Set(
    forms.sort((a, b) => b.maxBytes - a.maxBytes).map(({ source }) => source),
  );
  return {
    pattern: sources.size === 0 ? undefined : new RegExp([...sources].join("|"), "gi"),
    maxBytes: Math.max(0, ...forms.map(({ maxBytes }) => maxBytes)),
  };
}

function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    { source: secret.replace(/[^a-z0-9]/giu, written), maxBytes: bytes.length * maxBytesPerSign },
    ...(hex.length < minLength ? [] : [{ source: hex, maxBytes: hex.length }]),
    ...[0, 1, 2].flatMap((offset) => base64At(offset, bytes)),
  ];
}

/** Bytes of the longest way to write one character, `&quot;` or `&#0038;`. */
const maxBytesPerSign = 8;

const htmlNames: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** The ways to write one character that is no letter or digit: mixed, because each encoder leaves other characters as they are. */
function written(sign: string): string {
  const code = sign.codePointAt(0) ?? 0;
  const literal = sign.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
  const name = htmlNames[sign];
  const ways = [
    // JSON may escape it, and JSON inside JSON once more.
    sign === "\\" ? "\\\\{1,4}" : `\\\\{0,3}${literal}`,
    `\\\\{1,2}u${code.toString(16).padStart(4, "0")}`,
    Buffer.from(sign).toString("hex").replace(/../g, "%$&"),
    `&#0{0,2}${code};`,
    `&#x0{0,2}${code.toString(16)};`,
    ...(sign === " " ? ["\\+"] : []),
    ...(name === undefined ? [] : [`&${name};`]),
  ];
  return `(?:${ways.join("|")})`;
}

/** Any character of base64, in either alphabet, in a URL and in JSON that escapes slashes. */
const base64Sign = "(?:[a-z0-9+_-]|\\\\{0,3}/|%2[BF])";

/**
 * The secret in base64 of a longer text in which `offset` bytes, modulo 3, stand before it. Only the characters in the middle are
 * known: the first and the last also hold bits of the neighbours.
 */
function base64At(offset: number, bytes: Buffer): Form[] {
  const bits = 8 * (offset + bytes.length);
  const known = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  if (known.length < minLength) return [];
  const middle = known.replace(/[+/]/g, (sign) =>
    sign === "+" ? "(?:[+-]|%2B)" : "(?:\\\\{0,3}/|_|%2F)",
  );
  const source = `${offset === 0 ? "" : `${base64Sign}?`}${middle}${bits % 6 === 0 ? "" : `${base64Sign}?`}`;
  return [{ source, maxBytes: 4 * (known.length + 2) }];
}

function basicParts(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)
    ? [decoded, decoded.slice(decoded.indexOf(":") + 1)]
    : [];
}
