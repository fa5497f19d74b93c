const dayMs = 86_400_000;

/** The names of the ranges in the menu; `custom` is any other range. */
export type RangeName = "7" | "30" | "90" | "month" | "custom";

/** The search parameters of a range; undefined means the default of the API. */
export interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Returns the date that is `days` later. Dates are written YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

/**
 * Returns the search parameters of a named range. Named ranges have no end, so that a link shows
 * the newest days whenever it is opened. The last 30 days are the default of the API.
 * @param today as YYYY-MM-DD
 */
export function rangeNamed(name: Exclude<RangeName, "custom">, today: string): Range {
  switch (name) {
    case "7":
      return { from: addDays(today, -6), to: undefined };
    case "30":
      return { from: undefined, to: undefined };
    case "90":
      return { from: addDays(today, -89), to: undefined };
    case "month":
      return { from: `${today.slice(0, 8)}01`, to: undefined };
  }
}

/** Returns the name of the range with these parameters; `custom` if there is none. */
export function nameOf({ from, to }: Range, today: string): RangeName {
  const names = ["30", "7", "90", "month"] as const;
  return (
    names.find((name) => {
      const range = rangeNamed(name, today);
      return range.from === from && range.to === to;
    }) ?? "custom"
  );
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
