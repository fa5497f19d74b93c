import { LRUCache } from "lru-cache";
import type { ResponseBeginning } from "../base/egress/index.ts";
import { type Scrubber, scrubberFor } from "../base/secrets/index.ts";
import type { AttemptLog } from "./outcome-statement.ts";

/** Maximum bytes of a response's body that are logged. */
export const maxLoggedBytes = 4 * 1024;
/** Maximum headers of a response that are logged, and their total size in UTF-16 code units. */
const maxLoggedHeaders = 100;
const maxLoggedHeaderLength = 8 * 1024;

type LoggedResponse = Pick<AttemptLog, "responseHeaders" | "responseBody">;

/**
 * Returns what is logged of a response. Nothing is if none arrived, or if its secrets cannot be
 * removed: the receiver has got the delivery, and the outcome must be recorded.
 */
export function loggedResponse(
  response: ResponseBeginning | undefined,
  scrubber: Scrubber | undefined,
): LoggedResponse {
  const nothing = { responseHeaders: {}, responseBody: "" };
  if (response === undefined || scrubber === undefined) return nothing;
  try {
    return scrubbedResponse(response, scrubber);
  } catch {
    return nothing;
  }
}

function scrubbedResponse(
  { headers, text }: ResponseBeginning,
  scrubber: Scrubber,
): LoggedResponse {
  const beginning = Buffer.from(text).subarray(0, maxLoggedBytes);
  // `stream: true` omits a final character of which only the first bytes are kept.
  const { length } = new TextDecoder().decode(beginning, { stream: true });
  return {
    responseHeaders: loggedHeaders(headers, scrubber),
    // PostgreSQL cannot store NUL characters in a text.
    responseBody: scrubber.prefix(text, length).replaceAll("\0", "\ufffd"),
  };
}

function loggedHeaders(
  headers: ResponseBeginning["headers"],
  scrubber: Scrubber,
): Record<string, string> {
  const logged: (readonly [name: string, value: string])[] = [];
  let left = maxLoggedHeaderLength;
  for (const [name, value] of Object.entries(headers).slice(0, maxLoggedHeaders)) {
    left -= name.length + value.length;
    if (left < 0) break;
    logged.push([name, scrubber.text(value)]);
  }
  return Object.fromEntries(logged);
}

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
