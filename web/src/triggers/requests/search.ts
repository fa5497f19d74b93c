import type { RequestOutcome } from "@beckon/contract";
import { useSearch } from "@tanstack/react-router";
import { type SearchTexts, useChangeSearch } from "../../ui/index.ts";
import { outcomes } from "./outcomes.ts";
import type { RequestFilters } from "./queries.ts";

/**
 * Returns the filters of a URL. An unknown outcome is left out and a long event type is truncated,
 * because the API would reject them.
 */
function filtersOf(search: SearchTexts): RequestFilters {
  const outcome = search.outcome as RequestOutcome | undefined;
  const eventType = search.event_type?.trim().slice(0, 200) || undefined;
  return {
    ...(outcome !== undefined && Object.hasOwn(outcomes, outcome) ? { outcome } : {}),
    ...(eventType === undefined ? {} : { event_type: eventType }),
  };
}

/** Returns the filters and the open dialog of the page's URL, and how to change them. */
export function useRequestSearch() {
  const search: SearchTexts = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const change = (changed: SearchTexts) => changeSearch(changed, { keepsScroll: true });
  const filters = filtersOf(search);
  return {
    filters,
    /**
     * Values of the filter chips. Undefined: the chip is not shown. Empty: it is shown, and nothing
     * is chosen yet.
     */
    values: {
      outcome: filters.outcome ?? (search.outcome === "" ? "" : undefined),
      event_type: filters.event_type ?? (search.event_type === "" ? "" : undefined),
    },
    change,
    act: search.act,
    show: (act: "replay" | "rotate-secret" | "set-secret" | undefined) => change({ act }),
  };
}
