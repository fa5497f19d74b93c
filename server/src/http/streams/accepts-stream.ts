/**
 * Whether a client with this `Accept` gets a stream: the header names `text/event-stream`, not by a
 * wildcard, and does not name `application/json`, which takes precedence. `q=0` excludes a type.
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
