import type { Literal } from "./literal-search.ts";
import { withoutEscapes } from "./without-escapes.ts";

/**
 * Texts that find secrets in a response, as plain text and in common encodings, because a server
 * may repeat the secret that it was sent.
 */
export interface SecretForms {
  /** The secrets as usual encoders write them, in lower case. Found in texts in lower case. */
  readonly encoded: readonly Literal[];
  /** The secrets as `withoutEscapes` returns them. Found in what it returns of texts. */
  readonly unescaped: readonly Literal[];
  /** Maximum length in bytes of an encoded secret. */
  readonly maxBytes: number;
}

/**
 * Minimum number of characters of a hex or base64 form, of decoded basic credentials, and of a
 * secret that became shorter without its escapes. Shorter ones would match ordinary words. A secret
 * itself is searched for at any length.
 */
const minLength = 6;

/** Maximum bytes of one escaped byte, for example of `&#x0026;`. Base64 is shorter. */
const maxBytesPerByte = 8;

/**
 * Returns what finds each secret in the following encodings: plain text; escaped as in
 * JSON, URLs, forms and HTML; hex; base64 and base64url, at any offset of a longer text. If a
 * secret is the base64 of credentials of basic authentication, these credentials and the password
 * alone are also found. Other encodings are not found. No list can be complete, because a server
 * that has the secret can encode it in any way.
 *
 * `unescaped` finds every mixture of escapes. It does not find a secret that is an escape together
 * with what is before or after it, as `ab1` after `%`. `encoded` finds such a secret, if it has the
 * escapes of one usual encoder.
 */
export function secretForms(secrets: readonly string[]): SecretForms {
  const parts = secrets.flatMap(basicCredentials).filter((part) => part.length >= minLength);
  const sought = [...new Set([...secrets, ...parts])].filter((secret) => secret !== "");
  const encoded = sought.flatMap((secret) => {
    const bytes = Buffer.from(secret);
    const plain = escapedTexts(secret).map((text): Literal => ({ text }));
    return [...plain, ...hexOf(bytes), ...[0, 1, 2].flatMap((offset) => base64At(offset, bytes))];
  });
  const unescaped = encoded.flatMap((literal) => {
    const { text } = withoutEscapes(literal.text);
    return text.length < Math.min(minLength, literal.text.length) ? [] : [{ ...literal, text }];
  });
  return {
    encoded: distinct(encoded.map((literal) => ({ ...literal, text: lowerCase(literal.text) }))),
    unescaped: distinct(unescaped),
    maxBytes: maxBytesPerByte * Math.max(0, ...sought.map((secret) => Buffer.byteLength(secret))),
  };
}

/** Returns `text` in lower case, with the same length: `İ` alone would become longer. */
export const lowerCase = (text: string) => text.replaceAll("\u0130", "i").toLowerCase();

const distinct = (literals: readonly Literal[]) => [
  ...new Map(literals.map((literal) => [JSON.stringify(literal), literal])).values(),
];

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

function hexOf(bytes: Buffer): Literal[] {
  const text = bytes.toString("hex");
  return text.length < minLength ? [] : [{ text }];
}

/**
 * Returns the texts that find the secret in the base64 of a longer text, or an empty list if they
 * would be too short. `offset` is the secret's byte position in the longer text, modulo 3. Some
 * base64 characters at the start and end of the secret also encode bits of a neighbouring byte;
 * there any base64 character belongs to the secret.
 */
function base64At(offset: number, bytes: Buffer): Literal[] {
  const bits = 8 * (offset + bytes.length);
  const known = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
  if (known.length < minLength) return [];
  return [
    known,
    known.replaceAll("+", "-").replaceAll("/", "_"),
    encodeURIComponent(known),
    known.replaceAll("/", "\\/"),
  ].map((text) => ({ text, joinsBefore: offset !== 0, joinsAfter: bits % 6 !== 0 }));
}

function basicCredentials(secret: string): string[] {
  if (!/^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)) return [];
  const decoded = Buffer.from(secret, "base64").toString("utf8");
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded)
    ? [decoded, decoded.slice(decoded.indexOf(":") + 1)]
    : [];
}
