import { useSearch } from "@tanstack/react-router";
import { type FilterValues, useChangeSearch } from "../../ui/index.ts";
import { columnsOf, rememberColumns, rememberedColumns } from "./chosen-columns.ts";
import type { ColumnName } from "./columns.tsx";
import { parametersOf, rangeOf } from "./filters/created-range.ts";
import { filterNames, filtersOf, type RunFilters } from "./filters/run-filters.ts";

/**
 * Returns the filters and other state of a list of runs from the URL, and functions that change
 * them.
 * @param fixed filters that the screen itself sets. They override those of the URL.
 */
export function useRunFilters(fixed: RunFilters) {
  const search: Record<string, string | undefined> = useSearch({ strict: false });
  const change = useChangeSearch();
  const own = filtersOf(search);
  return {
    /** The filters of the list, including those that the screen itself sets. */
    filters: { ...own, ...fixed },
    /**
     * Values of the filters that are shown as chips. A value is empty if the person has added the
     * filter and not chosen its value yet.
     */
    values: {
      ...Object.fromEntries(filterNames.map((name) => [name, own[name] ?? emptyIn(search[name])])),
      created: rangeOf(own) ?? emptyIn(search.created_after),
    } satisfies FilterValues as FilterValues,
    /** Changes the given values and keeps the others. */
    setValues: (changed: FilterValues) => {
      const { created, ...values } = changed;
      const range = created === "" ? { created_after: "" } : parametersOf(created);
      change("created" in changed ? { ...values, ...range } : values);
    },
    clear: () => change(Object.fromEntries(filterNames.map((name) => [name, undefined]))),
    isFiltered: Object.keys(own).some((name) => !(name in fixed)),
    columns: columnsOf(search.columns) ?? rememberedColumns(),
    setColumns: (columns: readonly ColumnName[]) => {
      rememberColumns(columns);
      change({ columns: columns.join(",") });
    },
  };
}

const emptyIn = (value: string | undefined) => (value === "" ? "" : undefined);
