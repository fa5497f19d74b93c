import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Fact, Facts, Link, Time, useMedia } from "../../ui/index.ts";
import { failedText, pendingText } from "../health.ts";
import { NextAttempt } from "../next-attempt.tsx";

/** The health of a subscription in figures. All are always shown, so that the layout is stable. */
export function HealthFacts({ subscription }: { readonly subscription: Subscription }) {
  const { id } = useWorkspace();
  const { health } = subscription;
  const path = `/w/${id}/subscriptions/${subscription.id}`;
  const isNarrow = !useMedia("(min-width: 640px)");
  return (
    <Facts layout={isNarrow ? "grid" : "line"}>
      <Fact label="Last success">
        <At time={health.last_success_at} />
      </Fact>
      <Fact label="Last failure">
        <At time={health.last_failure_at} />
      </Fact>
      <Fact label="Pending">
        <Counted text={pendingText(health)} href={`${path}?status=pending`} />
      </Fact>
      <Fact label="Next attempt">
        {health.next_attempt_at === null ? (
          <span className="text-ink-3">None</span>
        ) : (
          <NextAttempt time={health.next_attempt_at} />
        )}
      </Fact>
      <Fact label="Failed, last 24 hours">
        <Counted text={failedText(health)} />
      </Fact>
    </Facts>
  );
}

function At({ time }: { readonly time: string | null }) {
  return time === null ? <span className="text-ink-3">Never</span> : <Time value={time} />;
}

interface CountedProps {
  readonly text: string;
  /** Path of the list of exactly the counted deliveries. No list has those of 24 hours only. */
  readonly href?: string;
}

/** A count. It links to the list of the counted deliveries, if there is one. */
function Counted({ text, href }: CountedProps) {
  return (
    <span className="font-mono text-dense">
      {text === "0" || href === undefined ? text : <Link href={href}>{text}</Link>}
    </span>
  );
}
