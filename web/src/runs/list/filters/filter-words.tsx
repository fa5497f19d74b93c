import { type FilterDefinition, filterValueText } from "../../../ui/index.ts";
import { rangeOf } from "./created-range.ts";
import type { RunFilters } from "./run-filters.ts";

interface FilterWordsProps {
  readonly filters: RunFilters;
  /** The definitions of all filters, including those that the screen itself sets. */
  readonly definitions: readonly FilterDefinition[];
}

/** The filters of a list in words, one per line. */
export function FilterWords({ filters, definitions }: FilterWordsProps) {
  const values: Readonly<Record<string, string | undefined>> = {
    ...filters,
    created: rangeOf(filters),
  };
  const lines = definitions.flatMap((definition) => {
    const value = values[definition.id];
    return value === undefined ? [] : [{ definition, value }];
  });
  if (lines.length === 0) return <span className="block">No filter is set.</span>;
  return lines.map(({ definition, value }) => (
    <span key={definition.id} className="flex min-w-0 gap-2 text-ink">
      <span className="w-20 shrink-0 text-ink-3">{definition.label}</span>
      <bdi className="min-w-0 break-words">{shownAs(definition, value)}</bdi>
    </span>
  ));
}

/** Texts that a person has entered are quoted. */
function shownAs(filter: FilterDefinition, value: string): string {
  const isEntered = filter.display === undefined && filter.options === undefined;
  return isEntered ? `“${value}”` : filterValueText(filter, value);
}
