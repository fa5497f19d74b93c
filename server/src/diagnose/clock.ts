import { type Finding, ok, skipped, warning } from "./finding.ts";

/** The time of another machine, compared with this machine's. */
export interface ClockReading {
  /** The other machine, as the subject of a sentence. */
  readonly name: string;
  /** Milliseconds by which the other clock is ahead; negative if it is behind. */
  readonly aheadMs: number;
}

/**
 * Maximum difference that causes no warning. Such a difference can be a measurement error: the
 * header `Date` has a resolution of one second, and a response can take some seconds.
 */
const maxDifferenceMs = 5_000;

/**
 * Compares this machine's clock with others. A wrong clock matters because deliveries are signed
 * with their time, and receivers can reject a time that is too far from theirs.
 */
export function checkClock(readings: readonly ClockReading[]): Finding[] {
  if (readings.length === 0) {
    return [
      skipped(
        "clock",
        "There is no other clock to compare with: no database or provider responded.",
      ),
    ];
  }
  return readings.map(({ name, aheadMs }) => {
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
    if (Math.abs(aheadMs) <= maxDifferenceMs)
      return ok("clock", `${name} and this machine differ by ${seconds} s.`);
    return warning(
      "clock",
      `The clock of ${name} is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's.`,
      "Synchronize both machines by NTP, for example with: timedatectl set-ntp true",
    );
  });
}

/**
 * Compares the header `Date` of a response with this machine's time. Returns a list of one reading;
 * it is empty if there is no valid header.
 */
export function readingOf(name: string, date: string | null, nowMs: number): ClockReading[] {
  const at = Date.parse(date ?? "");
  // The header omits the fraction of the second. Its mean, half a second, is added.
  return Number.isNaN(at) ? [] : [{ name, aheadMs: at + 500 - nowMs }];
}
