/**
 * Returns what an `Accept` header or one like it names (RFC 9110, 12.5), in lower case: media types
 * or encodings. A name with `q=0` counts as not named.
 */
export function acceptedNames(header: string): ReadonlySet<string> {
  return new Set(
    header.split(",").flatMap((each) => {
      const [name = "", ...parameters] = each.split(";").map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );
}
