import { useSearch } from "@tanstack/react-router";
import { type SearchTexts, useChangeSearch } from "../../ui/index.ts";
import { eventTypes } from "../events.ts";
import type { DeliveryFilters } from "../queries.ts";

/** The dialogs of a subscription that the URL can name. */
const acts = ["edit", "pause", "resume", "replay", "rotate", "verify", "test", "delete"] as const;
export type Act = (typeof acts)[number];

/** The statuses of a delivery, in the order in which the filter lists them. */
export const deliveryStatuses = [
  "pending",
  "succeeded",
  "failed",
  "cancelled",
  "not_sent",
] as const;

/** Returns the filters of a URL. What the API would reject is left out. */
export function filtersOf(search: SearchTexts): DeliveryFilters {
  const given = {
    status: listOf(search.status, deliveryStatuses),
    type: listOf(search.type, eventTypes),
    run_id: search.run_id?.trim().slice(0, 100) || undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function listOf(value: string | undefined, known: readonly string[]): string | undefined {
  const given = new Set(value?.split(","));
  return known.filter((each) => given.has(each)).join(",") || undefined;
}

/** Returns the open dialog and the filters that the page's URL contains, and how to change them. */
export function useSubscriptionSearch() {
  const search: SearchTexts = useSearch({ strict: false });
  const changeSearch = useChangeSearch();
  const change = (changed: SearchTexts) => changeSearch(changed, { keepsScroll: true });
  return {
    act: acts.find((act) => act === search.act),
    /** Opens a dialog, or closes the open one. */
    show: (act: Act | undefined) => change({ act }),
    filters: filtersOf(search),
    /**
     * Values of the filter chips. Undefined: the chip is not shown. Empty: it is shown, and nothing
     * is chosen yet.
     */
    values: Object.fromEntries(
      ["status", "type", "run_id"].map((name) => [
        name,
        filtersOf(search)[name as keyof DeliveryFilters] ?? (search[name] === "" ? "" : undefined),
      ]),
    ),
    change,
  };
}
