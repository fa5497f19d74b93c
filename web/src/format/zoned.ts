const formats = new Map<string, Intl.DateTimeFormat>();

/** Reuses a formatter per zone, because making one costs more than 50 uses of it. */
function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  // The Swedish locale has the format of ISO 8601: 2026-11-03 14:02:11.
  const made = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  formats.set(zone, made);
  return made;
}

/**
 * Returns a time in the zone, in the format of an `<input type="datetime-local">`:
 * `2026-11-03T14:02`.
 */
export function toZoned(ms: number, zone: string): string {
  return formatIn(zone).format(ms).replace(" ", "T").slice(0, 16);
}

/**
 * Returns the Unix time in ms of the value of an `<input type="datetime-local">`, read in the zone;
 * undefined if it is not a time. For a local time that the clock skips or repeats, one of the two
 * possible offsets is used.
 */
export function fromZoned(text: string, zone: string): number | undefined {
  const utc = Date.parse(`${text}Z`);
  if (Number.isNaN(utc)) return undefined;
  return utc - offsetAt(utc - offsetAt(utc, zone), zone);
}

/** Returns the Unix time in ms at which the day of `nowMs` began in the zone. */
export function startOfDay(nowMs: number, zone: string): number {
  return fromZoned(`${toZoned(nowMs, zone).slice(0, 10)}T00:00`, zone) ?? nowMs;
}

function offsetAt(ms: number, zone: string): number {
  const wholeSeconds = Math.floor(ms / 1_000) * 1_000;
  return Date.parse(`${formatIn(zone).format(ms).replace(" ", "T")}Z`) - wholeSeconds;
}
