/**
 * Returns the name in `known` for the time zone `name`, which can be an old name of it: for example
 * `America/Los_Angeles` for `US/Pacific`. Undefined if there is none. Node.js has a list of old
 * names of its own, in which either of the two names can be the present one.
 */
export function sameTimeZone(name: string, known: readonly string[]): string | undefined {
  const present = presentName(name);
  if (present === undefined || known.includes(present)) return present;
  return known.find((each) => presentName(each) === present);
}

/** Returns the present name of a time zone; undefined if Node.js does not know the time zone. */
function presentName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
