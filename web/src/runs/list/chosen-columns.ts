import { type ColumnName, columnNames, defaultColumns, fixedColumns } from "./columns.tsx";

const storageKey = "beckon.runs.columns";

/**
 * Returns the columns that `value` names (separated by commas) and those that are always shown, in
 * the order of the table; undefined without a value.
 */
export function columnsOf(value: string | null | undefined): readonly ColumnName[] | undefined {
  if (value === undefined || value === null) return undefined;
  const given = new Set(value.split(","));
  return columnNames.filter((name) => given.has(name) || fixedColumns.has(name));
}

/** Returns the columns that were last chosen in this browser; the default columns if none were. */
export function rememberedColumns(): readonly ColumnName[] {
  return columnsOf(localStorage.getItem(storageKey)) ?? defaultColumns;
}

/** Stores the columns for all lists of runs in this browser. */
export function rememberColumns(columns: readonly ColumnName[]): void {
  localStorage.setItem(storageKey, columns.join(","));
}
