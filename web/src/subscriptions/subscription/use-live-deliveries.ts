import type { Delivery, Page, Subscription } from "@beckon/client";
import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { useEvents, useThrottled } from "../../live/index.ts";
import { pollMs } from "../health.ts";
import { deliveriesKey, subscriptionKey } from "../queries.ts";
import { concerns } from "../use-live-subscriptions.ts";

/** Minimum time between two reads that events cause. */
const minIntervalMs = 2_000;
/**
 * Up to this scroll position, new rows are shown at once. Further down, they would move the rows
 * that the person is reading.
 */
const topPx = 120;

const isAtTop = () => window.scrollY <= topPx;

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
  const list = deliveriesKey(id, subscription.id);
  const enter = () => {
    setHasNews(false);
    // Only the first page is refetched. The others are loaded when a person scrolls to them.
    queryClient.setQueriesData<InfiniteData<Page<Delivery>>>({ queryKey: list }, (data) =>
      data === undefined || data.pages.length < 2
        ? data
        : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
    );
    void queryClient.invalidateQueries({ queryKey: list });
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

  const interval = pollMs(
    rows.map((row) => row.next_attempt_at),
    Date.now(),
  );
  const poll = useEffectEvent(() => {
    if (document.visibilityState === "visible" && isAtTop()) enter();
  });
  useEffect(() => {
    if (interval === false) return;
    const timer = setInterval(() => poll(), interval);
    return () => clearInterval(timer);
  }, [interval]);

  const enterAtTop = useEffectEvent(() => {
    if (hasNews && isAtTop()) enter();
  });
  useEffect(() => {
    const onScroll = () => enterAtTop();
    document.addEventListener("scroll", onScroll, { passive: true });
    return () => document.removeEventListener("scroll", onScroll);
  }, []);
  return {
    hasNews,
    show: () => {
      enter();
      window.scrollTo({ top: 0 });
    },
  };
}
