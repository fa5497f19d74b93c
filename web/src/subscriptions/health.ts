import type { Delivery, Subscription } from "@beckon/client";
import { formatCount, formatTime } from "../format/index.ts";

/** The health of a subscription, as lists and pages show it. */
export type Health = "working" | "unused" | "failing" | "paused" | "disabled";

/** The word that is shown for each state. */
export const healthWords: Readonly<Record<Health, string>> = {
  working: "Working",
  unused: "No delivery yet",
  failing: "Failing",
  paused: "Paused",
  disabled: "Disabled",
};

/** Returns the health of a subscription. */
export function healthOf({ status, health }: Pick<Subscription, "status" | "health">): Health {
  if (status === "paused" || status === "disabled") return status;
  if (health.failing_since !== null) return "failing";
  return health.last_success_at === null ? "unused" : "working";
}

const reasons: Readonly<Record<string, string>> = {
  failing: "every attempt failed for 5 days",
  gone: "the receiver responded with status 410",
  backlog: "more than 100,000 deliveries were pending",
};

/** Returns why Beckon disabled a subscription: `because every attempt failed for 5 days`. */
export function whyDisabled({ disabled_reason: reason }: Subscription): string {
  if (reason === null) return "for an unknown reason";
  return `because ${Object.hasOwn(reasons, reason) ? reasons[reason] : reason}`;
}

/**
 * While an attempt is in progress, `next_attempt_at` is the time from which the attempt counts as
 * lost. That is three times BECKON_DELIVERY_TIMEOUT_SECONDS after its start. The setting is at most
 * 60. So an attempt can be in progress if `next_attempt_at` is less than 180 s away. If processes
 * have exited during earlier attempts, it can be up to ten times as far away, which is rare.
 */
const maxAttemptMs = 180_000;
const soonMs = 2_000;
const laterMs = 15_000;

/**
 * Returns the state of an attempt with the given `next_attempt_at`. `scheduled`: it has not begun.
 * `near`: it is in progress or follows soon. `due`: it can begin, or has begun since the read.
 */
export function attemptState(nextAttempt: string, nowMs: number): "scheduled" | "near" | "due" {
  const distanceMs = Date.parse(nextAttempt) - nowMs;
  if (distanceMs <= 0) return "due";
  return distanceMs < maxAttemptMs ? "near" : "scheduled";
}

/**
 * Returns the time in milliseconds after which deliveries are refetched. It is short if an attempt
 * is in progress or follows soon. False if no attempt is scheduled.
 * @param nextAttempts times of the next attempts; null where none is scheduled
 */
export function pollMs(nextAttempts: readonly (string | null)[], nowMs: number): number | false {
  const times = nextAttempts.flatMap((time) => (time === null ? [] : [Date.parse(time)]));
  if (times.length === 0) return false;
  return Math.min(...times) - nowMs < maxAttemptMs ? soonMs : laterMs;
}

/** The API counts at most `maxPending` + 1 pending deliveries and `maxFailed` failed ones. */
const maxPending = 100_000;
const maxFailed = 10_000;

/** Returns the number of pending deliveries as text: `12`, `100,000+`. */
export function pendingText({ pending }: Subscription["health"]): string {
  return pending > maxPending ? `${formatCount(maxPending)}+` : formatCount(pending);
}

/** Returns the number of deliveries that have failed for good as text: `12`, `10,000+`. */
export function failedText({ failed }: Subscription["health"]): string {
  return failed >= maxFailed ? `${formatCount(maxFailed)}+` : formatCount(failed);
}

/** Returns the name of a subscription: its description or, if that is empty, its URL. */
export function nameOf({ description, url }: Pick<Subscription, "description" | "url">): string {
  return description.trim() === "" ? shortUrl(url) : description;
}

/** Returns a URL without `https://` and without a slash at the end. */
export function shortUrl(url: string): string {
  return url.replace(/^https:\/\//, "").replace(/\/$/, "");
}

/** Returns why deliveries of a subscription cannot be sent again now; undefined if they can. */
export function whyNotReplayed({ status }: Pick<Subscription, "status">): string | undefined {
  return status === "enabled" ? undefined : `The subscription is ${status}. Resume it first.`;
}

/** Returns why a delivery can never be sent again; undefined if no such reason is known. */
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

/** Returns why a delivery cannot be sent again now; undefined if it can. */
export function whyNotSentAgain(
  subscription: Pick<Subscription, "status" | "url">,
  delivery: Pick<Delivery, "kind" | "status" | "url" | "last_error" | "next_attempt_at">,
  { nowMs, timeZone }: { readonly nowMs: number; readonly timeZone: string },
): string | undefined {
  const never = whyNeverReplayed(subscription, delivery);
  if (never !== undefined) return never;
  const { status, last_error: error, next_attempt_at: next } = delivery;
  // A delivery that waits after a failed attempt can also be sent again now.
  if (subscription.status !== "enabled" || status !== "pending" || error !== null)
    return whyNotReplayed(subscription);
  if (next === null || attemptState(next, nowMs) !== "scheduled")
    return "The delivery is being sent already, or is sent soon.";
  return `The delivery waits for its first attempt, ${formatTime(next, nowMs, timeZone)}. If the receiver has requested this delay, a test that succeeds ends it.`;
}
