/** Created once, because creating a formatter takes longer than formatting 50 values. */
const countFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Returns a whole number with thousands separators: `4,211`; null gives "unknown". */
export function formatCount(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return "unknown";
  return countFormat.format(count);
}

/** Returns a short count for narrow columns: `980`, `4.2k`, `1.3M`, `1B`; null gives "unknown". */
export function formatShortCount(count: number | null | undefined): string {
  if (count === null || count === undefined || !Number.isFinite(count)) return "unknown";
  for (const [limit, unit] of [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    // Counts are rounded, so a unit begins slightly below its limit: 999.5 is shown as 1k and
    // 999,500 as 1M, and not as 1000 and 1000k.
    if (Math.abs(count) >= limit * 0.9995) {
      const scaled = count / limit;
      const text = Math.abs(scaled) < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0);
      return `${text.replace(/\.0$/, "")}${unit}`;
    }
  }
  return String(Math.round(count));
}

/** Returns a range of whole numbers: `1 to 86,400`. */
export function formatRange({ min, max }: { readonly min: number; readonly max: number }): string {
  return `${formatCount(min)} to ${formatCount(max)}`;
}

/** Returns a count with its noun: `1 run`, `3 runs`, `2 replies` (with `plural`). */
export function formatCounted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/**
 * Returns the numbers of input and output tokens: `4,211 in · 388 out`. An unknown number is left
 * out. If both are unknown, returns "unknown".
 */
export function formatTokens(
  input: number | null | undefined,
  output: number | null | undefined,
): string {
  const parts = [
    input === null || input === undefined ? "" : `${formatCount(input)} in`,
    output === null || output === undefined ? "" : `${formatCount(output)} out`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "unknown" : parts.join(" · ");
}

/**
 * Returns a size in bytes, in units of 1024: `812 B`, `2.1 KiB`, `1.5 MiB`; null gives "unknown".
 */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined || !(bytes >= 0)) return "unknown";
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1023.95 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const text = size < 99.95 ? size.toFixed(1).replace(/\.0$/, "") : size.toFixed(0);
  return `${text} ${units[unit]}`;
}

/** Returns a share between 0 and 1 as percent: `99.2 %`, `100 %`; null gives "unknown". */
export function formatPercent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "unknown";
  const percent = share * 100;
  // 99.96 % must not be rounded to 100 %, nor 0.04 % to 0 %.
  if (percent > 99.9 && percent < 100) return ">99.9 %";
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  return `${percent.toFixed(1).replace(/\.0$/, "")} %`;
}
