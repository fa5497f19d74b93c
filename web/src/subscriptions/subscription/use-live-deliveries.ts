import type { Delivery, Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import {
  hasNewRows,
  refetchFirstPage,
  updateKnown,
  useRowUpdates,
  useWorkspace,
  whenFetched,
} from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { isAtTop, useEnterAtTop } from "../../ui/index.ts";
import { concerns } from "../concerns.ts";
import {
  type DeliveryFilters,
  deliveriesKey,
  deliveriesQuery,
  subscriptionKey,
} from "../queries.ts";
import { useDeliveryPoll } from "../use-delivery-poll.ts";
import { type DeliveryPages, nextRange, readUpdate, type UpdateRange } from "./next-range.ts";

/** Minimum time between two reads that events or polls cause. */
const minIntervalMs = 2_000;

/**
 * Maximum px by which the page can be scrolled down while new rows are inserted at once. The list
 * is below the header with the health of the subscription, so a person who has scrolled less does
 * not read its rows yet.
 */
const topPx = 400;

/**
 * Keeps a subscription and its deliveries up to date. They are refetched after events that concern
 * the subscription. The result of an attempt causes no event, so while an attempt is scheduled, the
 * deliveries are also refetched in intervals (`pollMs`). While the page is scrolled down, new rows
 * are held back, and the rows that are shown are updated, at most `maxUpdated` in each interval.
 * @param rows the deliveries that are shown
 * @returns whether new rows are held back, and a function that shows them
 */
export function useLiveDeliveries(
  subscription: Subscription,
  filters: DeliveryFilters,
  rows: readonly Delivery[],
) {
  const workspace = useWorkspace();
  const { id } = workspace;
  const queryClient = useQueryClient();
  const [hasNews, setHasNews] = useState(false);
  const endUpdate = useRowUpdates(deliveriesQuery(workspace, subscription.id, filters), topPx, () =>
    setHasNews(true),
  );
  const enter = () => {
    endUpdate();
    setHasNews(false);
    return refetchFirstPage(queryClient, { queryKey: deliveriesKey(id, subscription.id) });
  };
  /** Whether an event has concerned the subscription since the last read. */
  const isConcerned = useRef(false);
  const nextUpdate = useRef<UpdateRange>(undefined);
  const updateRows = async (isNews: boolean) => {
    const { queryKey, readPage } = deliveriesQuery(workspace, subscription.id, filters);
    const before = queryClient.getQueryData<DeliveryPages>(queryKey);
    const range = nextUpdate.current;
    // If the deliveries cannot be read, the next update begins again with the newest.
    nextUpdate.current = undefined;
    const read = await readUpdate(readPage, range, isNews && !hasNews).catch(() => undefined);
    // The person can have shown the new rows meanwhile, which are then not announced again.
    await whenFetched(queryClient, queryKey);
    const list = queryClient.getQueryData<DeliveryPages>(queryKey);
    if (read === undefined || list === undefined) return;
    nextUpdate.current = nextRange(list, read.rows, range);
    if (read.newest !== undefined && hasNewRows(list, read.newest)) setHasNews(true);
    // If the list has changed since the request, the response can be older than the list.
    if (list === before)
      queryClient.setQueryData<DeliveryPages>(queryKey, updateKnown(list, read.rows, range?.below));
  };
  // Events and polls share one throttle, because each read of the list cancels the one in progress.
  const readAgain = useThrottled(async () => {
    const isNews = isConcerned.current;
    isConcerned.current = false;
    const queryKey = [...subscriptionKey(id, subscription.id), "details"];
    await Promise.all([
      isAtTop(topPx) ? enter() : updateRows(isNews),
      isNews ? queryClient.invalidateQueries({ queryKey }) : undefined,
    ]);
  }, minIntervalMs);
  useEvents((events) => {
    if (!events.some((event) => concerns(subscription, event))) return;
    isConcerned.current = true;
    readAgain();
  });
  useDeliveryPoll(rows, readAgain);
  useEnterAtTop(hasNews ? () => void enter() : undefined, topPx);
  return {
    hasNews,
    show: () => {
      void enter();
      window.scrollTo({ top: 0 });
    },
  };
}
