import type { Delivery, Subscription } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { refetchFirstPage, useWorkspace } from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { isAtTop, useEnterAtTop } from "../../ui/index.ts";
import { deliveriesKey, subscriptionKey } from "../queries.ts";
import { useDeliveryPoll } from "../use-delivery-poll.ts";
import { concerns } from "../use-live-subscriptions.ts";

/** Minimum time between two reads that events cause. */
const minIntervalMs = 2_000;

/**
 * Keeps a subscription and its deliveries up to date. They are refetched after events that concern
 * the subscription. While an attempt is scheduled, the deliveries are also refetched in intervals
 * (`pollMs`). While the page is scrolled down, new rows are held back.
 * @param rows the deliveries that are shown
 * @returns whether new rows are held back, and a function that shows them
 */
export function useLiveDeliveries(subscription: Subscription, rows: readonly Delivery[]) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [hasNews, setHasNews] = useState(false);
  const enter = () => {
    setHasNews(false);
    refetchFirstPage(queryClient, { queryKey: deliveriesKey(id, subscription.id) });
  };
  const readAgain = useThrottled(() => {
    void queryClient.invalidateQueries({
      queryKey: [...subscriptionKey(id, subscription.id), "details"],
    });
    if (isAtTop()) enter();
    else setHasNews(true);
  }, minIntervalMs);
  useEvents((events) => {
    if (events.some((event) => concerns(subscription, event))) readAgain();
  });
  useDeliveryPoll(rows, () => {
    if (isAtTop()) enter();
  });
  useEnterAtTop(hasNews ? enter : undefined);
  return {
    hasNews,
    show: () => {
      enter();
      window.scrollTo({ top: 0 });
    },
  };
}
