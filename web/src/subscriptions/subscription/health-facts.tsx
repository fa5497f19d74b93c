import type { Subscription } from "@beckon/client";
import { formatCount } from "../../format/index.ts";
import { Fact, Facts, Link, Time, useMedia } from "../../ui/index.ts";

/** Counting ends here: see the contract. */
const maxPending = 100_000;
const maxFailed = 10_000;

/** How deliveries have gone, in figures. All of them are always there, so that nothing shifts. */
export function HealthFacts({ subscription }: { readonly subscription: Subscription }) {
  const { pending, failed, ...times } = subscription.health;
  const isNarrow = !useMedia("(min-width: 640px)");
  return (
    <Facts layout={isNarrow ? "grid" : "line"}>
      <Fact label="Last success">
        <At time={times.last_success_at} />
      </Fact>
      <Fact label="Last failure">
        <At time={times.last_failure_at} />
      </Fact>
      <Fact label="Pending">
        <Counted count={pending} max={maxPending + 1} status="pending" />
      </Fact>
      <Fact label="Next attempt">
        <At time={times.next_attempt_at} none="None" />
      </Fact>
      <Fact label="Failed, 24 h">
        <Counted count={failed} max={maxFailed} status="failed" />
      </Fact>
    </Facts>
  );
}

function At({ time, none = "Never" }: { readonly time: string | null; readonly none?: string }) {
  // A time that has passed is that of an attempt that is about to begin.
  return time === null ? <span className="text-ink-3">{none}</span> : <Time value={time} />;
}

interface CountedProps {
  readonly count: number;
  readonly max: number;
  readonly status: string;
}

/** A count that leads to what it counts. */
function Counted({ count, max, status }: CountedProps) {
  if (count === 0) return <span className="font-mono text-dense">0</span>;
  return (
    <span className="font-mono text-dense">
      <Link href={`?status=${status}`}>
        {count >= max ? `${formatCount(max - (max % 2))}+` : formatCount(count)}
      </Link>
    </span>
  );
}
