import { Refusal } from "../base/errors.ts";

/**
 * The key of a header, bare or in quotes, or undefined without one. A header that is no usable key is a refusal, to be given when
 * its turn comes: a caller who asked for "at most once" must not get "maybe twice".
 */
export function idempotencyKey(header: string | undefined): string | undefined | Refusal {
  if (header === undefined) return undefined;
  const trimmed = header.trim();
  const quoted = /^"(.*)"$/.exec(trimmed)?.[1];
  const key = quoted ?? trimmed;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  return new Refusal("bad_request", "Idempotency-Key must be 1 to 255 printable ASCII characters, bare or in double quotes.");
}
