import type { Delivery } from "@beckon/client";
import { useEffect, useEffectEvent } from "react";
import { pollMs } from "./attempt-state.ts";

/**
 * Calls `action` in intervals (`pollMs`) while an attempt of one of the deliveries is scheduled and
 * the page is visible.
 * @param action must be throttled (see `useThrottled`), because a slow server can take longer to
 *   respond than the interval
 */
export function useDeliveryPoll(deliveries: readonly Delivery[], action: () => void): void {
  const intervalMs = pollMs(
    deliveries.map((delivery) => delivery.next_attempt_at),
    Date.now(),
  );
  const poll = useEffectEvent(() => {
    if (document.visibilityState === "visible") action();
  });
  useEffect(() => {
    if (intervalMs === false) return;
    const timer = setInterval(() => poll(), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
