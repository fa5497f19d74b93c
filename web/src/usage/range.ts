const dayMs = 86_400_000;

/** Named ranges of days that end today. */
const rangeNames = ["7", "30", "90", "month"] as const;
export type RangeName = (typeof rangeNames)[number];

/** The search parameters of the time range. */
export interface RangeSearch {
  /** A `RangeName`. Its days are those before the day on which the page is shown. */
  readonly range?: string | undefined;
  /** First and last day of any other range. They apply if no range is named. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Returns the date that is `days` later. Dates are written YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

/** Returns the name of the range; `custom` if the search parameters have its days. */
export function nameOf({ range, from, to }: RangeSearch): RangeName | "custom" {
  const name = rangeNames.find((each) => each === range);
  return name ?? (from || to ? "custom" : "30");
}

/**
 * Returns the API's filters for the days of the range. A named range has no last day, and the last
 * 30 days are the default of the API.
 * @param today as YYYY-MM-DD
 */
export function daysFilters(
  search: RangeSearch,
  today: string,
): { readonly from?: string; readonly to?: string } {
  switch (nameOf(search)) {
    case "7":
      return { from: addDays(today, -6) };
    case "30":
      return {};
    case "90":
      return { from: addDays(today, -89) };
    case "month":
      return { from: `${today.slice(0, 8)}01` };
    case "custom": {
      const { from, to } = search;
      return { ...(from && { from }), ...(to && { to }) };
    }
  }
}

/** Returns the first and the last day of a report with these filters. */
export function shownDays(
  { to, from }: ReturnType<typeof daysFilters>,
  today: string,
): { readonly from: string; readonly to: string } {
  const last = to ?? today;
  return { from: from ?? addDays(last, -29), to: last };
}

/** A mistyped year can make a range of millions of days, which would freeze the page. */
const maxDays = 3_660;

/**
 * Returns every date from the first to the last, both included; an empty list if they are not
 * dates, or if there are more than 3,660.
 */
export function daysOf(from: string, to: string): readonly string[] {
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (!Number.isInteger(count) || count < 1 || count > maxDays) return [];
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}
