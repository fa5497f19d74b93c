/** How long a client prefers to wait for the response: RFC 7240. */
export interface Preference {
  readonly respondAsync: boolean;
  /** Seconds. */
  readonly wait: number | undefined;
}

const none: Preference = { respondAsync: false, wait: undefined };

/**
 * Parses `Prefer`. Ignores unknown preferences and parameters, as the RFC says. `wait` is at most a
 * day.
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
