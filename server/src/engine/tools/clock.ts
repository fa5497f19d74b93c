import { z } from "zod";
import { ToolFailure } from "../tool.ts";
import { defineTool } from "./define-tool.ts";

/**
 * The tool `clock`. It returns the current time of this process's clock, to the second, because
 * models have no access to the time.
 */
export const clock = defineTool({
  name: "clock",
  description:
    "Tells the current date and time. Give an IANA time zone such as Europe/Berlin; without one the time is in UTC.",
  args: z.strictObject({
    time_zone: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("IANA name of a time zone, for example Europe/Berlin or UTC"),
  }),
  safeToRepeat: true,
  run: async ({ time_zone = "UTC" }) => ({ time: timeIn(time_zone, new Date()), time_zone }),
});

/**
 * Returns the time as RFC 3339 text with the time zone's offset at that moment, for example
 * `2026-03-01T09:30:00+01:00`.
 *
 * @throws {ToolFailure} the time zone does not exist.
 */
export function timeIn(timeZone: string, moment: Date): string {
  const parts = new Map(
    formatter(timeZone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  // "GMT" alone means offset zero. Offsets from before the introduction of standard time have
  // seconds, which RFC 3339 cannot express. No time zone has such an offset today, and the tool is
  // called with the current time only.
  const offset = part("timeZoneName").replace("GMT", "") || "+00:00";
  return `${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}:${part("second")}${offset}`;
}

function formatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en", {
      timeZone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hourCycle: "h23",
      timeZoneName: "longOffset",
    });
  } catch {
    throw new ToolFailure(
      `There is no time zone named ${JSON.stringify(timeZone)}. Use an IANA name, for example Europe/Berlin or UTC.`,
    );
  }
}
