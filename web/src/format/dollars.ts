/** Maximum of a limit in dollars: `maxLimitMicros` of the contract. */
const maxLimitDollars = 1_000_000_000;

/** An amount that was typed: its value in micro-dollars, or an error message. */
export type TypedDollars =
  | { readonly micros: number; readonly error?: undefined }
  | { readonly micros?: undefined; readonly error: string };

/**
 * Parses an amount in dollars with at most six decimals.
 * @param maxDollars a larger amount gives an error. Default: the maximum of a limit
 */
export function readDollars(text: string, maxDollars = maxLimitDollars): TypedDollars {
  const typed = text.trim();
  if (typed === "") return { error: "Fill this in." };
  const [, whole, decimals = ""] = /^(\d+)(?:\.(\d+))?$/.exec(typed) ?? [];
  if (whole === undefined) return { error: "Use a number of dollars, for example 5 or 0.50." };
  if (decimals.length > 6) return { error: "Use at most 6 decimals." };
  const dollars = Number(whole);
  if (dollars > maxDollars || (dollars === maxDollars && Number(decimals) > 0))
    return { error: `Use ${maxDollars.toLocaleString("en-US")} or less.` };
  return { micros: dollars * 1_000_000 + Number(decimals.padEnd(6, "0")) };
}

/** Formats an amount in the format that `readDollars` parses. */
export function writeDollars(micros: number): string {
  const decimals = String(micros % 1_000_000)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const whole = String(Math.floor(micros / 1_000_000));
  return decimals === "" ? whole : `${whole}.${decimals.padEnd(2, "0")}`;
}
