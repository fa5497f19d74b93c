import { formatClock } from "../format/index.ts";

/** Returns the IANA names of UTC and of the time zones that the browser knows, each once. */
export function timeZones(): readonly string[] {
  return [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])];
}

/** Returns the time zone of the browser. */
export function browserTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/**
 * Returns the local time and the offset of a zone: `14:02, UTC+1`; undefined for an unknown zone.
 */
export function clockIn(zone: string, nowMs: number): string | undefined {
  try {
    const offset = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "shortOffset" })
      .formatToParts(nowMs)
      .find(({ type }) => type === "timeZoneName")
      ?.value.replace("GMT", "UTC");
    return `${formatClock(nowMs, zone).slice(0, 5)}, ${offset}`;
  } catch {
    return undefined;
  }
}
