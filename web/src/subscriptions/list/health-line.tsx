import type { Subscription } from "@beckon/client";
import { Time } from "../../ui/index.ts";
import { healthOf, whyDisabled } from "../health.ts";

/**
 * Explains in one line why a subscription fails or is not enabled. Renders nothing for other
 * subscriptions.
 */
export function HealthLine({ subscription }: { readonly subscription: Subscription }) {
  const { health, inactive_since: since } = subscription;
  switch (healthOf(subscription)) {
    case "failing":
      return (
        <>
          <bdi>{health.last_error ?? "Unknown error."}</bdi>{" "}
          <span className="text-ink-3">
            First failure <Time value={health.failing_since} />
          </span>
        </>
      );
    case "paused":
      return (
        <>
          Paused <Time value={since} />
        </>
      );
    case "disabled":
      return (
        <>
          <Time value={since} />, {whyDisabled(subscription)}
        </>
      );
    default:
      return null;
  }
}
