import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { type listOptions, refetchFirstPage, useRowUpdates } from "../data/index.ts";
import { useThrottled } from "../live/index.ts";
import { isAtTop, useEnterAtTop } from "../ui/index.ts";

/**
 * Maximum px by which the page can be scrolled down while new rows are inserted at once. The list
 * is below other panels, so a person who has scrolled less does not read its rows yet.
 */
const topPx = 400;
/** Minimum time in ms between two reads of the list because of new rows. */
const minIntervalMs = 2_000;

/**
 * Adds new rows to a list. They are added at once. If the person has scrolled down, they are added
 * after scrolling up or by `show`.
 * @param list options of the list
 * @param newest ids of the newest rows, which another query reads again and again. They must fit on
 *   the first page of the list, because only that page is refetched to show them.
 * @param shown the rows that are shown
 */
export function useNewRows<Row extends { readonly id: string }>(
  list: ReturnType<typeof listOptions<Row>>,
  newest: readonly string[],
  shown: readonly Row[],
) {
  const queryClient = useQueryClient();
  const shownIds = new Set(shown.map(({ id }) => id));
  // The ids are joined to a string, which React compares by value. Arrays are new on each render,
  // so an effect that depends on one would run after each render.
  const news = newest.filter((id) => !shownIds.has(id)).join(" ");
  const hasNews = news !== "";
  const endUpdate = useRowUpdates(list, topPx);
  const enter = () => {
    endUpdate();
    return refetchFirstPage(queryClient, { queryKey: list.queryKey, exact: true });
  };
  const readAgain = useThrottled(async () => {
    if (isAtTop(topPx)) await enter();
  }, minIntervalMs);
  const onNews = useEffectEvent(readAgain);
  useEffect(() => {
    if (news !== "") onNews();
  }, [news]);
  useEnterAtTop(hasNews ? () => void enter() : undefined, topPx);
  return {
    hasNews: hasNews && shown.length > 0,
    show: () => {
      void enter();
      window.scrollTo({ top: 0 });
    },
  };
}
