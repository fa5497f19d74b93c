const dayMs = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Reuses a formatter per zone, because creating one takes longer than formatting 50 times. */
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
 * Returns a Unix time as local time of the zone, in the format of an `<input
 * type="datetime-local">`: `2026-11-03T14:02`.
 * @throws RangeError if `ms` is NaN
 */
export function toZoned(ms: number, zone: string): string {
  return localTime(ms, zone).slice(0, -3);
}

/**
 * Returns the Unix time in ms of the value of an `<input type="datetime-local">`, read in the zone;
 * undefined if it is not a time. If a change to or from daylight saving time skips or repeats this
 * local time, the offset before the change is used. So a day whose midnight is skipped begins after
 * the change, and not on the day before.
 */
export function fromZoned(text: string, zone: string): number | undefined {
  const utc = parseAsUtc(text);
  if (Number.isNaN(utc)) return undefined;
  const early = utc - offsetAt(utc - dayMs, zone);
  const late = utc - offsetAt(utc + dayMs, zone);
  const isLocalTime = (ms: number) => ms + offsetAt(ms, zone) === utc;
  return isLocalTime(early) || !isLocalTime(late) ? early : late;
}

/** Returns the Unix time in ms at which the day of `nowMs` began in the zone. */
export function startOfDay(nowMs: number, zone: string): number {
  return fromZoned(`${toZoned(nowMs, zone).slice(0, 10)}T00:00`, zone) ?? nowMs;
}

function offsetAt(ms: number, zone: string): number {
  const wholeSeconds = Math.floor(ms / 1_000) * 1_000;
  return parseAsUtc(localTime(ms, zone)) - wholeSeconds;
}

/** Returns a time in the zone with seconds: `2026-11-03T14:02:11`. */
function localTime(ms: number, zone: string): string {
  const text = formatIn(zone).format(ms).replace(" ", "T");
  // The locale writes the year 26 with two digits, but the format needs at least four.
  return text.replace(/^\d+/, (year) => year.padStart(4, "0"));
}

/**
 * Parses a local time as if it were UTC. People can type years above 9999. `Date.parse` reads such
 * a year only with six digits and a sign.
 */
function parseAsUtc(text: string): number {
  return Date.parse(`${text.replace(/^\d{5,6}(?=-)/, (year) => `+${year.padStart(6, "0")}`)}Z`);
}
