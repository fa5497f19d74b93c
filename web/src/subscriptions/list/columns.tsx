import type { Subscription } from "@beckon/client";
import { type Column, Time, UserText } from "../../ui/index.ts";
import { failedText, healthOf, pendingText } from "../health.ts";
import { HealthMark } from "../health-mark.tsx";
import { nameOf, shortUrl } from "../name.ts";
import { HealthLine } from "./health-line.tsx";

/** Returns the columns of the list of subscriptions: a single one if `isNarrow` is true. */
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
      cell: ({ health }) => <Count text={pendingText(health)} />,
    },
    {
      id: "failed",
      header: "Failed, last 24 hours",
      width: 160,
      align: "end",
      from: "lg",
      cell: ({ health }) => <Count text={failedText(health)} />,
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

function Count({ text }: { readonly text: string }) {
  return <span className={`font-mono text-dense ${text === "0" ? "text-ink-3" : ""}`}>{text}</span>;
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
