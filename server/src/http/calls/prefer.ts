/** What a caller would rather have than to wait for the answer: RFC 7240. */
export interface Preference {
  readonly respondAsync: boolean;
  /** Seconds. */
  readonly wait: number | undefined;
}

const none: Preference = { respondAsync: false, wait: undefined };

/** Reads `Prefer`; what is not understood is ignored, parameters too, as the RFC says. `wait` is capped at a day. */
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

/** The value of `Preference-Applied`, or undefined when nothing was asked for. */
export function applied(preference: Preference): string | undefined {
  const parts = [
    preference.respondAsync ? "respond-async" : "",
    preference.wait === undefined ? "" : `wait=${preference.wait}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : undefined;
}
