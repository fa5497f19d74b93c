import { formatExact, formatTime } from "../../../format/index.ts";
import { type RunFilters, timeOf } from "./run-filters.ts";

/**
 * Time ranges to choose from. Functions of this file take a range as one text: one of these values,
 * or two times separated by a slash, of which one can be empty.
 */
export const presets = [
  { value: "1h", label: "Last hour" },
  { value: "24h", label: "Last 24 hours" },
  { value: "7d", label: "Last 7 days" },
  { value: "30d", label: "Last 30 days" },
] as const;

/** Returns the time range of the filters as one text; undefined if they have no time. */
export function rangeOf({ created_after, created_before }: RunFilters): string | undefined {
  if (created_after === undefined && created_before === undefined) return undefined;
  if (created_before === undefined && presets.some(({ value }) => value === created_after))
    return created_after;
  return `${created_after ?? ""}/${created_before ?? ""}`;
}

/** Returns the search parameters of a range. */
export function parametersOf(
  range: string | undefined,
): Readonly<Record<string, string | undefined>> {
  const [after, before] = range?.split("/") ?? [];
  return { created_after: after || undefined, created_before: before || undefined };
}

/**
 * Returns a range in words, for example `Last hour`.
 * @param nowMs Unix time from which relative times are counted back
 * @param zone time zone of the times in the words, for example `Europe/Berlin`
 */
export function wordsOf(range: string, nowMs: number, zone: string): string {
  const preset = presets.find(({ value }) => value === range);
  if (preset !== undefined) return preset.label;
  const [after = "", before = ""] = range.split("/");
  const short = (value: string) => {
    const ms = timeOf(value, nowMs);
    // Seconds, milliseconds and the zone's name are removed.
    return ms === undefined ? value : formatExact(ms, zone).replace(/:\d\d\.\d{3} .*$/, "");
  };
  if (before === "") return `since ${relativeOr(after, nowMs, zone, short)}`;
  if (after === "") return `until ${short(before)}`;
  return `${short(after)} – ${short(before)}`;
}

function relativeOr(
  value: string,
  nowMs: number,
  zone: string,
  otherwise: (value: string) => string,
): string {
  const ms = timeOf(value, nowMs);
  return /^\d+[mhd]$/.test(value) && ms !== undefined
    ? formatTime(ms, nowMs, zone)
    : otherwise(value);
}
