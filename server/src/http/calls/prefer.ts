/** The preferences of a client in its `Prefer` header (RFC 7240) about waiting for a run's end. */
export interface Preference {
  readonly respondAsync: boolean;
  /** Maximum seconds to wait for the run's end; undefined if the client does not limit the wait. */
  readonly wait: number | undefined;
}

const none: Preference = { respondAsync: false, wait: undefined };

/**
 * Parses the `Prefer` header. Ignores unknown preferences and parameters, as RFC 7240 requires.
 * Reduces a `wait` of more than a day to a day.
 */
export function readPrefer(header: string | undefined): Preference {
  if (header === undefined) return none;
  const preferences = header
    .split(",")
    .map((part) => part.split(";")[0]?.trim().toLowerCase() ?? "");
  const wait = preferences
    .map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1])
    .find((value) => value !== undefined);
  return {
    respondAsync: preferences.includes("respond-async"),
    wait: wait === undefined ? undefined : Math.min(Number(wait), 86_400),
  };
}

/** Returns the value of `Preference-Applied`; undefined if there was no known preference. */
export function applied(preference: Preference): string | undefined {
  const parts = [
    preference.respondAsync ? "respond-async" : "",
    preference.wait === undefined ? "" : `wait=${preference.wait}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : undefined;
}
