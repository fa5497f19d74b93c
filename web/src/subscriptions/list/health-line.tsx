import type { Subscription } from "@beckon/client";
import { Time } from "../../ui/index.ts";
import { disabledBecause, healthOf } from "../health.ts";

/** Why a subscription does not deliver, in one line; nothing if it does. */
export function HealthLine({ subscription }: { readonly subscription: Subscription }) {
  const { health, inactive_since: since } = subscription;
  switch (healthOf(subscription)) {
    case "failing":
      return (
        <>
          Since <Time value={health.failing_since} />:{" "}
          <bdi>{health.last_error ?? "unknown error"}</bdi>
        </>
      );
    case "paused":
      return (
        <>
          Since <Time value={since} />
        </>
      );
    case "disabled":
      return (
        <>
          Since <Time value={since} />, because {disabledBecause(subscription)}
        </>
      );
    default:
      return null;
  }
}
