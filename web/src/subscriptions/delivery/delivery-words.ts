import type { DeliveryDetails } from "@beckon/client";

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

/** Returns the title and the advice for a delivery with the status `failed`. */
export function failedWords({ attempts }: Pick<DeliveryDetails, "attempts">) {
  // For example, more callbacks were pending than Beckon keeps.
  return attempts === 0
    ? { title: "It was not sent.", advice: "Replay sends it." }
    : { title: "All attempts failed.", advice: "Correct the receiver, then replay the delivery." };
}

/** Returns why a delivery has no body to show. */
export function whyNoBody({ status }: Pick<DeliveryDetails, "status">): string {
  return status === "not_sent"
    ? "It was not sent. A replay makes the body from the event, unless its run was deleted."
    : "It is not stored. Its run was deleted, or it was sent without data before the payload was changed to full.";
}

/** Returns an error without its full stop, so that another sentence can contain it. */
export const withoutStop = (error: string) => error.replace(/\.$/, "");
