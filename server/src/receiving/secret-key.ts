import type { HmacVerification } from "@beckon/contract";

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Returns the key of an HMAC from the text of a secret; undefined if the text is not in the given
 * encoding. Node would decode such text partially, to a key that may be empty or easy to guess.
 */
export function keyOf(
  secret: string,
  encoding: HmacVerification["secret_encoding"],
): Buffer | undefined {
  switch (encoding) {
    case "text":
      return Buffer.from(secret, "utf8");
    case "hex":
      return /^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, "hex") : undefined;
    case "base64":
      return fromBase64(secret);
    case "whsec":
      return fromBase64(secret.startsWith("whsec_") ? secret.slice("whsec_".length) : secret);
  }
}

function fromBase64(text: string): Buffer | undefined {
  const bytes = base64.test(text) ? Buffer.from(text, "base64") : undefined;
  return bytes === undefined || bytes.length === 0 ? undefined : bytes;
}
