import { LRUCache } from "lru-cache";
import { type Scrubber, scrubberFor } from "../base/secrets/index.ts";

/**
 * The scrubbers that were used last, by their secrets. Compiling the pattern of one can take longer
 * than the rest of an attempt.
 */
const scrubbers = new LRUCache<string, Scrubber>({ max: 1_024 });

/** Shorter values are not removed, because they would match ordinary words and numbers. */
const minSecretLength = 6;

/**
 * Returns a scrubber that removes the secrets of a subscription from the responses of its receiver.
 * Some receivers repeat the request with its headers, or show their configuration with an error.
 * Of a header with a scheme, such as `Bearer x`, it also removes what follows the scheme. The
 * headers `accept` and `accept-*` are no secrets.
 */
export function scrubberOf(
  signingSecrets: readonly string[],
  headers: Readonly<Record<string, string>>,
): Scrubber {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    /^accept(?:-|$)/i.test(name) ? [] : [value, value.slice(value.indexOf(" ") + 1)],
  );
  const secrets = [...signingSecrets, ...values].filter((text) => text.length >= minSecretLength);
  const key = JSON.stringify(secrets);
  const known = scrubbers.get(key);
  if (known !== undefined) return known;
  const scrubber = scrubberFor(secrets);
  scrubbers.set(key, scrubber);
  return scrubber;
}
