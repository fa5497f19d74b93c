/**
 * Returns whether a client with this `Accept` header gets a stream. It does if the header names
 * `text/event-stream` itself, not only a wildcard, and does not name `application/json`, which
 * takes precedence. A type with `q=0` counts as not named.
 */
export function acceptsStream(accept: string | undefined): boolean {
  if (accept === undefined || !/text\/event-stream/i.test(accept)) return false;
  const wanted = new Set(
    accept.split(",").flatMap((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) ? [] : [type];
    }),
  );
  return wanted.has("text/event-stream") && !wanted.has("application/json");
}
