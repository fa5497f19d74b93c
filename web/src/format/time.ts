const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Returns a time relative to now if it is less than 24 hours away (`12 s ago`, `in 4 min`), else
 * its date in the zone: `3 Nov` in the same year, else `3 Nov 2025`.
 *
 * @param time milliseconds since 1970 or an ISO 8601 time; any other text gives "unknown"
 * @param zone IANA zone of the workspace
 */
export function formatTime(time: number | string, nowMs: number, zone: string): string {
  const ms = toMs(time);
  if (Number.isNaN(ms)) return "unknown";
  const distance = Math.abs(nowMs - ms);
  if (distance >= dayMs) return formatDate(ms, nowMs, zone);
  const amount = relative(distance);
  if (amount === undefined) return "now";
  return ms > nowMs ? `in ${amount}` : `${amount} ago`;
}

function relative(distance: number): string | undefined {
  if (distance < 5_000) return undefined;
  if (distance < minuteMs) return `${Math.floor(distance / 1000)} s`;
  if (distance < hourMs) return `${Math.floor(distance / minuteMs)} min`;
  return `${Math.floor(distance / hourMs)} h`;
}

/** Returns the date in a zone: `3 Nov` in the year of `nowMs`, else `3 Nov 2025`. */
export function formatDate(time: number | string, nowMs: number, zone: string): string {
  const parts = partsOf(toMs(time), zone);
  const date = `${Number(parts.day)} ${parts.month}`;
  return parts.year === partsOf(nowMs, zone).year ? date : `${date} ${parts.year}`;
}

/** Returns the time of day in a zone with seconds: `14:02:11`. */
export function formatClock(time: number | string, zone: string): string {
  const { hour, minute, second } = partsOf(toMs(time), zone);
  return `${hour}:${minute}:${second}`;
}

/**
 * Returns the time of day in a zone, after the date if it is not that of `nowMs`:
 * `2 Nov, 14:02:11`.
 */
export function formatAsOf(time: number, nowMs: number, zone: string): string {
  const [date, clock] = [formatDate(time, nowMs, zone), formatClock(time, zone)];
  return date === formatDate(nowMs, nowMs, zone) ? clock : `${date}, ${clock}`;
}

/** Returns the exact time in a zone: `3 Nov 2026, 14:02:11.482 Europe/Berlin`. */
export function formatExact(time: number | string, zone: string): string {
  const ms = toMs(time);
  if (Number.isNaN(ms)) return "unknown";
  const { day, month, year, hour, minute, second } = partsOf(ms, zone);
  const millis = String(((ms % 1000) + 1000) % 1000).padStart(3, "0");
  return `${Number(day)} ${month} ${year}, ${hour}:${minute}:${second}.${millis} ${zone}`;
}

function toMs(time: number | string): number {
  return typeof time === "number" ? time : Date.parse(time);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Reuses a formatter per zone, because creating one takes longer than formatting 50 times. */
function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    day: "2-digit",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  formats.set(zone, made);
  return made;
}

/**
 * Returns the zone, or UTC if the browser does not know it. PostgreSQL has zones that no browser
 * knows, such as `<+03>-3`, and older browsers lack new ones.
 */
export function knownZone(zone: string): string {
  try {
    formatIn(zone);
    return zone;
  } catch {
    return "UTC";
  }
}

/** Parses the formatted text, because `formatToParts` costs several times as much CPU. */
function partsOf(ms: number, zone: string) {
  const text = Number.isNaN(ms) ? "" : formatIn(zone).format(ms);
  const [day = "", month = "", year = "", hour = "", minute = "", second = ""] =
    text.match(/\d+|\p{L}+/gu) ?? [];
  // en-GB abbreviates September as "Sept", the only month with four letters. All others have three.
  return { day, month: month.slice(0, 3), year, hour, minute, second };
}
