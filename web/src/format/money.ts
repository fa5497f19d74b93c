/** Created once, because creating a formatter takes longer than formatting 50 values. */
const formats = {
  2: new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  4: new Intl.NumberFormat("en-US", { minimumFractionDigits: 4, maximumFractionDigits: 4 }),
  upTo4: new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 4 }),
  exact: new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 }),
};

/**
 * Returns an amount of US dollars: `$0.0184`, `$3.20`, `$1,204.50`, `<$0.0001`. An unknown price is
 * "unknown", never $0.
 *
 * @param micros millionths of a dollar, as `cost_micros` of the API
 */
export function formatMoney(micros: number | null | undefined): string {
  if (micros === null || micros === undefined || !Number.isFinite(micros)) return "unknown";
  const sign = micros < 0 ? "−" : "";
  const size = Math.abs(micros);
  if (size > 0 && size < 100) return `${sign}<$0.0001`;
  // Amounts below a dollar have four decimals, because one model call costs fractions of a cent.
  // If the last two are zeros, they are left out.
  const digits = size < 1_000_000 && Math.round(size / 100) % 100 !== 0 ? 4 : 2;
  return `${sign}$${formats[digits].format(size / 1_000_000)}`;
}

/**
 * Returns a price in US dollars with two to six decimals: `$1.125`, `$10.00`. Fewer would differ
 * from the price list of the provider.
 *
 * @param micros millionths of a dollar
 */
export function formatPrice(micros: number): string {
  return `$${formats.exact.format(micros / 1_000_000)}`;
}

const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

/**
 * Returns a function that formats the amounts of US dollars of a line that also shows a limit. All
 * are in cents, `$0.70`. If these would hide an amount, or miss the limit that the amounts add up
 * to, all have up to four decimals, `$4.9951`.
 *
 * @param limit millionths of a dollar, which `formatPrice` formats exactly; null if there is none
 * @param amounts the amounts of the line, in millionths of a dollar
 */
export function moneyBeside(
  limit: number | null,
  amounts: readonly number[],
): (micros: number) => string {
  const isSmall = limit !== null && (limit < 1_000_000 || limit % 10_000 !== 0);
  const hasSmall = amounts.some((micros) => micros > 0 && micros < 10_000);
  const inCents = (micros: number) => Math.round(micros / 10_000);
  const misses =
    limit !== null && sumOf(amounts) === limit && sumOf(amounts.map(inCents)) !== inCents(limit);
  const format = formats[isSmall || hasSmall || misses ? "upTo4" : 2];
  return (micros) =>
    micros > 0 && micros < 100 ? formatMoney(micros) : `$${format.format(micros / 1_000_000)}`;
}
