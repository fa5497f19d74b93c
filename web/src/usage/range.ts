const dayMs = 86_400_000;

/** Names of the ranges that can be chosen by one press; `custom` is any other. */
export type RangeName = "7" | "30" | "90" | "month" | "custom";

/** The parameters of a range; undefined: the API's default. */
export interface Range {
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Returns the date that is `days` later. Dates are written YYYY-MM-DD. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

/**
 * Returns the parameters of a named range. Ranges have no end, so that their links show the newest
 * days whenever they are opened.
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

/** Returns the name of a range. */
export function nameOf({ from, to }: Range, today: string): RangeName {
  const names = ["30", "7", "90", "month"] as const;
  return (
    names.find((name) => {
      const range = rangeNamed(name, today);
      return range.from === from && range.to === to;
    }) ?? "custom"
  );
}

/** Returns every date from the first to the last, both included; none if they are no dates. */
export function daysOf(from: string, to: string): readonly string[] {
  const count = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (!Number.isInteger(count) || count < 1) return [];
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}
