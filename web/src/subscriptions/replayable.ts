import type { Delivery, Subscription } from "@beckon/client";
import { formatTime } from "../format/index.ts";
import { attemptState } from "./attempt-state.ts";

/** Returns why deliveries of a subscription cannot be replayed now; undefined if they can. */
export function whyNoReplay({ status }: Pick<Subscription, "status">): string | undefined {
  return status === "enabled" ? undefined : `The subscription is ${status}. Resume it first.`;
}

/** Returns why a delivery can never be replayed; undefined if no such reason is known. */
export function whyNeverReplayed(
  { url }: Pick<Subscription, "url">,
  delivery: Pick<Delivery, "kind" | "status" | "url">,
): string | undefined {
  // Deleting the subscription cancels deliveries too, but a page shows only those of existing ones.
  if (delivery.status === "cancelled") return "Its run was deleted, and the event with it.";
  // The subscription's secret signs callbacks, and it is only for the server of its URL.
  if (delivery.kind === "callback" && new URL(delivery.url).origin !== new URL(url).origin)
    return "It is for another server than the subscription's URL, so it cannot be replayed.";
  return undefined;
}

/** Returns why a delivery cannot be replayed now; undefined if it can. */
export function whyNotReplayed(
  subscription: Pick<Subscription, "status" | "url">,
  delivery: Pick<Delivery, "kind" | "status" | "url" | "last_error" | "next_attempt_at">,
  { nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: string },
): string | undefined {
  const never = whyNeverReplayed(subscription, delivery);
  if (never !== undefined) return never;
  const { status, last_error: error, next_attempt_at: next } = delivery;
  // A delivery that waits after a failed attempt can also be replayed now.
  if (subscription.status !== "enabled" || status !== "pending" || error !== null)
    return whyNoReplay(subscription);
  if (next === null || attemptState(next, nowMs) !== "scheduled")
    return "The delivery is being sent already, or is sent soon.";
  return `The delivery waits for its first attempt, ${formatTime(next, nowMs, timeZone)}. If the receiver has requested this delay, a test that succeeds ends it.`;
}
