/**
 * Returns the media types that an `Accept` header names, in lower case. A type with `q=0` counts as
 * not named.
 */
export function namedMediaTypes(accept: string): ReadonlySet<string> {
  return new Set(
    accept.split(",").flatMap((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) ? [] : [type];
    }),
  );
}
