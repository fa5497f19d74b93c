import type { Subscription } from "@beckon/client";
import { formatCount } from "../../format/index.ts";
import { type Column, Time, UserText } from "../../ui/index.ts";
import { healthOf, nameOf, shortUrl } from "../health.ts";
import { HealthMark } from "../health-mark.tsx";
import { HealthLine } from "./health-line.tsx";

/** Counting ends here: see the contract. */
const maxPending = 100_001;
const maxFailed = 10_000;

/** Returns the columns of the list. @param isNarrow whether there is room for one column only */
export function subscriptionColumns(isNarrow: boolean): readonly Column<Subscription>[] {
  const name: Column<Subscription> = {
    id: "name",
    header: "Receiver",
    cell: (each) => <Receiver subscription={each} isNarrow={isNarrow} />,
  };
  if (isNarrow) return [name];
  return [
    {
      id: "state",
      header: "State",
      width: 148,
      cell: (each) => <HealthMark subscription={each} />,
    },
    name,
    {
      id: "events",
      header: "Events",
      width: 220,
      from: "lg",
      cell: ({ event_types: types }) => (
        <span className="font-mono text-dense" title={types.join(", ")}>
          {types.join(", ")}
        </span>
      ),
    },
    {
      id: "pending",
      header: "Pending",
      width: 88,
      align: "end",
      cell: ({ health }) => <Count count={health.pending} max={maxPending} />,
    },
    {
      id: "failed",
      header: "Failed, 24 h",
      width: 104,
      align: "end",
      from: "lg",
      cell: ({ health }) => <Count count={health.failed} max={maxFailed} />,
    },
    {
      id: "success",
      header: "Last success",
      width: 120,
      align: "end",
      cell: ({ health: { last_success_at: at } }) =>
        at === null ? <span className="text-ink-3">Never</span> : <Time value={at} />,
    },
  ];
}

function Count({ count, max }: { readonly count: number; readonly max: number }) {
  if (count === 0) return <span className="text-ink-3">0</span>;
  return (
    <span className="font-mono text-dense">
      {count >= max ? `${formatCount(max - (max % 10_000))}+` : formatCount(count)}
    </span>
  );
}

interface ReceiverProps {
  readonly subscription: Subscription;
  readonly isNarrow: boolean;
}

function Receiver({ subscription, isNarrow }: ReceiverProps) {
  const { description, url } = subscription;
  const hasNews = !["working", "unused"].includes(healthOf(subscription));
  return (
    <span className="flex min-w-0 flex-col">
      <span className="min-w-0 truncate font-semibold">
        <UserText
          text={nameOf(subscription)}
          title={description.trim() === "" ? url : description}
        />
      </span>
      <span className="flex min-w-0 items-center gap-2 text-dense text-ink-2">
        {isNarrow ? (
          <span className="shrink-0">
            <HealthMark subscription={subscription} />
          </span>
        ) : null}
        <span className="min-w-0 truncate">
          {hasNews ? (
            <HealthLine subscription={subscription} />
          ) : (
            <span className="font-mono">{description.trim() === "" ? "" : shortUrl(url)}</span>
          )}
        </span>
      </span>
    </span>
  );
}
