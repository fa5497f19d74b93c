import type { DeliveryDetails, Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Banner, LinkButton, Problem } from "../../ui/index.ts";
import { NextAttempt } from "../next-attempt.tsx";
import { adviceFor, whyNotSent, withoutStop } from "./delivery-words.ts";

interface DeliveryNoticeProps {
  readonly subscription: Subscription;
  readonly delivery: DeliveryDetails;
}

/**
 * Explains why the delivery has not arrived, and what happens next. Renders nothing if it has
 * arrived, or if it waits for its first attempt.
 */
export function DeliveryNotice({ subscription, delivery }: DeliveryNoticeProps) {
  const { id } = useWorkspace();
  const { status, last_error: error, next_attempt_at: next } = delivery;
  const advice = adviceFor(subscription, delivery);
  const open =
    subscription.status === "enabled" ? undefined : (
      <LinkButton size="small" href={`/w/${id}/subscriptions/${subscription.id}`}>
        Open the subscription
      </LinkButton>
    );
  if (status === "not_sent")
    return (
      <Banner tone="warning" action={open}>
        <bdi>{whyNotSent(delivery)}</bdi> {advice}
      </Banner>
    );
  if (status === "cancelled") return <Banner>It was cancelled. {advice}</Banner>;
  if (status === "failed" && error !== null)
    return (
      <Problem
        isState
        title={delivery.attempts === 0 ? "It was not sent." : "All attempts failed."}
        error={`${withoutStop(error)}. ${advice}`}
      />
    );
  if (status === "pending" && error !== null && next !== null)
    return (
      <Banner tone="warning" action={open}>
        The last attempt failed: <bdi>{withoutStop(error)}</bdi>. The next attempt is{" "}
        <NextAttempt time={next} />.
      </Banner>
    );
  return null;
}
