import type { Subscription } from "@beckon/client";
import { formatCount } from "../format/index.ts";

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
