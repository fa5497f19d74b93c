/**
 * Whether a caller with this `Accept` gets a stream: it names `text/event-stream`, wildcards do not count, and does not name
 * `application/json`, which is answered to who can read both. What is named with `q=0` is not wanted.
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
