import type { DeliveryDetails, Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Banner, LinkButton, Problem } from "../../ui/index.ts";
import { whyNeverReplayed } from "../health.ts";
import { NextAttempt } from "../next-attempt.tsx";
import { failedWords, whyNotSent, withoutStop } from "./delivery-words.ts";

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
  const never = whyNeverReplayed(subscription, delivery);
  const open =
    subscription.status === "enabled" ? undefined : (
      <LinkButton size="small" href={`/w/${id}/subscriptions/${subscription.id}`}>
        Open the subscription
      </LinkButton>
    );
  if (status === "not_sent")
    return (
      <Banner tone="warning" action={open}>
        <bdi>{whyNotSent(delivery)}</bdi>{" "}
        {never ??
          (open === undefined ? "Replay sends it." : "Resume the subscription, then replay it.")}
      </Banner>
    );
  if (status === "cancelled") return <Banner>It was cancelled. {never}</Banner>;
  if (status === "failed" && error !== null) {
    const { title, advice } = failedWords(delivery);
    return <Problem isState title={title} error={`${withoutStop(error)}. ${never ?? advice}`} />;
  }
  if (status === "pending" && error !== null && next !== null)
    return (
      <Banner tone="warning" action={open}>
        The last attempt failed: <bdi>{withoutStop(error)}</bdi>. The next attempt is{" "}
        <NextAttempt time={next} />.
      </Banner>
    );
  return null;
}
