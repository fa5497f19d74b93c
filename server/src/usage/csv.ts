import type { UsageRow } from "@beckon/contract";

/** Number of rows that are converted to text at a time. */
const rowsPerChunk = 500;

/**
 * Returns the rows as CSV (RFC 4180) with a header line. Columns are the fields of the rows; null
 * is an empty cell.
 * @param columns the names of the columns, in order.
 */
export async function* csvOf(
  columns: readonly (keyof UsageRow)[],
  rows: readonly UsageRow[],
): AsyncGenerator<string> {
  yield lineOf(columns);
  for (let from = 0; from < rows.length; from += rowsPerChunk) {
    yield rows
      .slice(from, from + rowsPerChunk)
      .map((row) => lineOf(columns.map((column) => row[column])))
      .join("");
  }
}

function lineOf(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map(cellOf).join(",")}\r\n`;
}

/**
 * Returns the text of a cell. A spreadsheet could execute a text as a formula if it begins with one
 * of the characters below, so an apostrophe is put before it (OWASP, "CSV Injection"). Numbers need
 * no apostrophe, since they are never negative.
 */
function cellOf(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
