import { acceptedNames } from "../request/index.ts";

/**
 * Returns whether a client with this `Accept` header gets a stream. It does if the header names
 * `text/event-stream` itself, not only a wildcard, and does not name `application/json`, which
 * takes precedence. A type with `q=0` counts as not named.
 */
export function acceptsStream(accept: string | undefined): boolean {
  if (accept === undefined || !/text\/event-stream/i.test(accept)) return false;
  const named = acceptedNames(accept);
  return named.has("text/event-stream") && !named.has("application/json");
}
