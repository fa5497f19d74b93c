import type { DeliveryDetails, Subscription } from "@beckon/client";
import { whyNeverReplayed } from "../replayable.ts";

/** `last_error` of deliveries that were pending when a backup was restored. */
const restored = "Beckon was restored from a backup.";

/** `last_error` of deliveries that a limited key must not send anywhere. */
const narrowed = "A key that is limited to other agents has changed the subscription.";

/** Returns why a delivery with the status `not_sent` was not sent. */
export function whyNotSent({ last_error: error }: Pick<DeliveryDetails, "last_error">): string {
  if (error === restored)
    return "This event was not sent, because Beckon was restored from a backup. It can have been sent before.";
  if (error === narrowed)
    return "This event was not sent, because a key that is limited to other agents has changed the subscription.";
  const why = "This event was not sent, because the subscription was paused or disabled.";
  return error === null ? why : `${why} An earlier attempt failed: ${withoutStop(error)}.`;
}

/** Returns what to do about a delivery that was not sent, or failed; or why nothing can be done. */
export function adviceFor(
  subscription: Pick<Subscription, "status" | "url">,
  delivery: Pick<DeliveryDetails, "kind" | "status" | "url" | "attempts">,
): string {
  const never = whyNeverReplayed(subscription, delivery);
  if (never !== undefined) return never;
  if (subscription.status !== "enabled") return "Resume the subscription, then replay it.";
  // A delivery can fail without an attempt: for example, if more callbacks are pending than Beckon
  // keeps.
  return delivery.status === "failed" && delivery.attempts > 0
    ? "Correct the receiver, then replay the delivery."
    : "Replay sends it.";
}

/** Returns why a delivery has no body to show. */
export function whyNoBody({ status }: Pick<DeliveryDetails, "status">): string {
  return status === "not_sent"
    ? "It was not sent. A replay makes the body from the event, unless its run was deleted."
    : "It is not stored. Its run was deleted, or it was sent without data before the payload was changed to full.";
}

/** Returns an error without its full stop, so that another sentence can contain it. */
export const withoutStop = (error: string) => error.replace(/\.$/, "");
