import { LRUCache } from "lru-cache";
import { type Scrubber, scrubberFor } from "../base/secrets/index.ts";

/**
 * Cache of scrubbers, by their secrets. Encoding long secrets in all forms can take longer than the
 * rest of an attempt. The sum of the keys' lengths is limited, because a scrubber of long secrets
 * has about a hundred characters for each of theirs.
 */
const scrubbers = new LRUCache<string, Scrubber>({
  max: 1_024,
  maxSize: 1_000_000,
  sizeCalculation: (_, key) => key.length,
});

/** Shorter values are not removed, because they would match ordinary words and numbers. */
const minSecretLength = 6;

/**
 * Returns a scrubber that removes the secrets of a subscription from the responses of its receiver.
 * Some receivers repeat the request with its headers, or show their configuration with an error. A
 * signing secret is also removed without `whsec_`, because receivers decode the rest. If a header's
 * value begins with a scheme, as in `Bearer x`, the scrubber also removes `x` alone. The headers
 * `accept` and `accept-*` do not count as secrets.
 */
export function scrubberOf(
  signingSecrets: readonly string[],
  headers: Readonly<Record<string, string>>,
): Scrubber {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    /^accept(?:-|$)/i.test(name) ? [] : [value, value.slice(value.indexOf(" ") + 1)],
  );
  const signing = signingSecrets.flatMap((secret) => [secret, secret.slice("whsec_".length)]);
  const secrets = [...signing, ...values].filter((text) => text.length >= minSecretLength);
  const key = JSON.stringify(secrets);
  const known = scrubbers.get(key);
  if (known !== undefined) return known;
  const scrubber = scrubberFor(secrets);
  scrubbers.set(key, scrubber);
  return scrubber;
}
