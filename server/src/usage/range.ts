import type { UsageGroup } from "@beckon/contract";
import { ApiError } from "../base/errors.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Length in days of a range without `from`. */
const defaultDays = 30;
/** Maximum days of a range if the report must read single entries instead of the sums by day. */
const maxDaysOfEntries = 31;
/**
 * Hours by which a range of times can exceed the maximum: a month of 31 days in which the clock is
 * set back is longer. It is set back by 2 hours at most.
 */
const maxExtraHours = 2;

/** The range of a report: two days, both inclusive, or two times, the second exclusive. */
export type UsageRange =
  | { readonly kind: "days"; readonly from: string; readonly to: string }
  | { readonly kind: "times"; readonly from: Date; readonly to: Date };

interface RangeRequest {
  /** A date, the first day of the range, or an RFC 3339 time, at which the range begins. */
  readonly from?: string | undefined;
  /** A date, the last day of the range, or an RFC 3339 time, before which the range ends. */
  readonly to?: string | undefined;
  readonly groups: readonly UsageGroup[];
  readonly tag?: string | undefined;
}

/**
 * Returns the range of a report. Without `from`, the range has 30 days. Without `to`, it ends with
 * `lastDay` or, if `from` is a time, now.
 * @param lastDay the workspace's local date, or the newest day of its usage if that is later.
 * @throws ApiError `bad_request` if the range is empty, if one end is a date and the other a time,
 *   or if the range is too long for a report that needs single entries.
 */
export function rangeOf(request: RangeRequest, lastDay: string, now: Date): UsageRange {
  const { from, to } = request;
  const range = isTime(from) || isTime(to) ? timesOf(from, to, now) : daysOf(from, to, lastDay);
  const [reason, remedy] = reasonForEntries(request, range) ?? [];
  if (reason !== undefined && daysIn(range) > maxDaysOfEntries) {
    throw badRequest(
      `With ${reason}, the time range can be at most ${maxDaysOfEntries} days. Shorten it with from and to, or ${remedy}.`,
    );
  }
  return range;
}

/**
 * Checks that the entries which a report must read were not deleted after their retention.
 * @param deletedUntil time and local date of the newest deleted entry; undefined if there is none.
 * @throws ApiError `bad_request` if some of the entries were deleted.
 */
export function checkDeleted(
  request: Pick<RangeRequest, "groups" | "tag">,
  range: UsageRange,
  deletedUntil: { readonly time: Date; readonly day: string } | undefined,
): void {
  const [reason, remedy] = reasonForEntries(request, range) ?? [];
  if (reason === undefined || deletedUntil === undefined) return;
  if (range.kind === "days" ? range.from > deletedUntil.day : range.from > deletedUntil.time)
    return;
  const last =
    range.kind === "days"
      ? `after ${deletedUntil.day}`
      : `later than ${deletedUntil.time.toISOString()}`;
  throw badRequest(
    `With ${reason}, from must be ${last}: older usage is only kept as sums by day (BECKON_RETENTION_USAGE_DAYS). Choose a later from, or ${remedy}.`,
  );
}

/**
 * Returns whether a report must read single entries, because sums by day have no times and no tags.
 */
export function needsEntries(request: Pick<RangeRequest, "groups" | "tag">, range: UsageRange) {
  return reasonForEntries(request, range) !== undefined;
}

/**
 * Returns why a report must read single entries, and which change of the request avoids this;
 * undefined if sums by day are enough.
 */
function reasonForEntries(
  { groups, tag }: Pick<RangeRequest, "groups" | "tag">,
  range: UsageRange,
): readonly [reason: string, remedy: string] | undefined {
  if (groups.includes("hour")) return ["group_by=hour", "group by day"];
  if (groups.includes("tag")) return ["group_by=tag", "leave tag out of group_by"];
  if (tag !== undefined) return ["the filter tag", "leave it out"];
  if (range.kind === "times") return ["times in from and to", "send dates"];
  return undefined;
}

function isTime(moment: string | undefined): boolean {
  return moment?.includes("T") ?? false;
}

function timesOf(from: string | undefined, to: string | undefined, now: Date): UsageRange {
  if (from !== undefined && to !== undefined && !(isTime(from) && isTime(to))) {
    throw badRequest(
      "query parameters from and to must both be dates, for example 2026-01-31, or both RFC 3339 times, for example 2026-01-31T09:30:00Z.",
    );
  }
  const end = to === undefined ? now : new Date(to);
  const start = from === undefined ? new Date(end.getTime() - defaultDays * dayMs) : new Date(from);
  if (start >= end) {
    throw badRequest(
      `query parameter from must be before to${to === undefined ? ", which is now by default" : ""}.`,
    );
  }
  return { kind: "times", from: start, to: end };
}

function daysOf(from: string | undefined, to: string | undefined, lastDay: string): UsageRange {
  const end = to ?? lastDay;
  const start =
    from ?? new Date(Date.parse(end) - (defaultDays - 1) * dayMs).toISOString().slice(0, 10);
  if (start > end) {
    throw badRequest(
      `query parameter from must not be after to${to === undefined ? `, which is ${lastDay} by default` : ""}.`,
    );
  }
  return { kind: "days", from: start, to: end };
}

/** Returns the length of the range in days. For a range of times, it is `maxExtraHours` shorter. */
function daysIn({ kind, from, to }: UsageRange): number {
  return kind === "days"
    ? (Date.parse(to) - Date.parse(from)) / dayMs + 1
    : (to.getTime() - from.getTime() - maxExtraHours * hourMs) / dayMs;
}

function badRequest(message: string): ApiError {
  return new ApiError("bad_request", message);
}
