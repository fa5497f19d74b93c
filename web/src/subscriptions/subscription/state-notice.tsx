import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Banner, Button, Time } from "../../ui/index.ts";
import { healthOf, whyDisabled } from "../health.ts";
import { NextAttempt } from "../next-attempt.tsx";
import { ResumeButton } from "./resume-button.tsx";
import { useSubscriptionSearch } from "./search.ts";

/**
 * Explains why the subscription fails or is not enabled, and what to do. Renders nothing for other
 * subscriptions.
 */
export function StateNotice({ subscription }: { readonly subscription: Subscription }) {
  const { health, inactive_since: since } = subscription;
  switch (healthOf(subscription)) {
    case "paused":
      return (
        <Banner tone="warning" action={<ResumeButton subscription={subscription} />}>
          Paused <Time value={since} />. What happens until you resume it is not sent, and can be
          replayed.
        </Banner>
      );
    case "disabled":
      return (
        <Banner tone="failure" action={<ResumeButton subscription={subscription} />}>
          Beckon disabled it <Time value={since} />, {whyDisabled(subscription)}.{" "}
          <LastError error={health.last_error} />
          Correct the receiver, then resume: what was missed can be replayed.
        </Banner>
      );
    case "failing":
      return (
        <Banner
          tone="warning"
          action={health.next_attempt_at === null ? undefined : <ReplayButton />}
        >
          Every attempt fails. The first failure was <Time value={health.failing_since} />.{" "}
          <LastError error={health.last_error} />
          {health.next_attempt_at === null ? null : (
            <>
              The next attempt is <NextAttempt time={health.next_attempt_at} />. Correct the
              receiver, send a test, then replay what waits. After 5 days without a success Beckon
              disables the subscription.
            </>
          )}
        </Banner>
      );
    default:
      return null;
  }
}

/** Opens the dialog that makes deliveries due that wait for their next attempt. */
function ReplayButton() {
  const { whyNot } = useWorkspace();
  const { show } = useSubscriptionSearch();
  return (
    <Button
      size="small"
      onClick={() => show("replay")}
      disabledReason={whyNot("subscriptions:write")}
      aria-label="Replay waiting deliveries"
    >
      Replay
    </Button>
  );
}

function LastError({ error }: { readonly error: string | null }) {
  if (error === null) return null;
  return (
    <>
      Last error: <bdi>{error.replace(/\.$/, "")}</bdi>.{" "}
    </>
  );
}
