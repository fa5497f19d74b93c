import type { Delivery } from "@beckon/client";
import { Badge, type Column, Id, Time } from "../ui/index.ts";
import { DeliveryMark } from "./delivery-mark.tsx";

interface ColumnsOptions {
  /** Whether the list is too narrow for several columns. */
  readonly isNarrow: boolean;
  /** What a row shows about its delivery: the run, or the URL to which it was sent. */
  readonly about: "run" | "url";
}

/** Returns the columns of a list of deliveries. */
export function deliveryColumns({ isNarrow, about }: ColumnsOptions): readonly Column<Delivery>[] {
  const time: Column<Delivery> = {
    id: "created",
    header: "Created",
    width: 104,
    align: "end",
    cell: ({ created_at }) => <Time value={created_at} />,
  };
  if (isNarrow)
    return [
      {
        id: "type",
        header: "Event",
        cell: (delivery) => (
          <span className="flex min-w-0 flex-col">
            <EventType delivery={delivery} />
            <span className="flex min-w-0 items-center gap-2 text-dense text-ink-2">
              <span className="shrink-0">
                <DeliveryMark delivery={delivery} />
              </span>
              <span className="min-w-0 truncate">
                <Outcome delivery={delivery} />
              </span>
            </span>
          </span>
        ),
      },
      time,
    ];
  return [
    {
      id: "state",
      header: "State",
      width: 120,
      cell: (delivery) => <DeliveryMark delivery={delivery} />,
    },
    {
      id: "type",
      header: "Event",
      width: 184,
      cell: (delivery) => <EventType delivery={delivery} />,
    },
    about === "run"
      ? {
          id: "about",
          header: "Run",
          width: 152,
          from: "xl",
          cell: ({ run_id: runId }) =>
            runId === null ? <span className="text-ink-3">–</span> : <Id value={runId} />,
        }
      : {
          id: "about",
          header: "Receiver",
          from: "lg",
          cell: ({ url }) => (
            <span className="font-mono text-dense" title={url}>
              {url}
            </span>
          ),
        },
    { id: "outcome", header: "Response", cell: (delivery) => <Outcome delivery={delivery} /> },
    {
      id: "attempts",
      header: "Attempts",
      width: 80,
      align: "end",
      from: "lg",
      cell: ({ attempts }) => <span className="font-mono text-dense">{String(attempts)}</span>,
    },
    time,
  ];
}

function EventType({ delivery: { type, kind } }: { readonly delivery: Delivery }) {
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-2 align-middle">
      <span className="truncate font-mono text-dense">{type}</span>
      {kind === "event" ? null : (
        <span className="shrink-0">
          <Badge>{kind === "test" ? "Test" : "Callback"}</Badge>
        </span>
      )}
    </span>
  );
}

/** The receiver's last response, or why there is none. */
function Outcome({ delivery }: { readonly delivery: Delivery }) {
  const { last_error: error, last_status: status, next_attempt_at: next, attempts } = delivery;
  if (status !== null)
    return (
      <span
        className={`font-mono text-dense ${error === null ? "" : "text-flare"}`}
        title={error ?? undefined}
      >
        {String(status)}
      </span>
    );
  if (error !== null)
    return (
      <bdi className="text-flare" title={error}>
        {error}
      </bdi>
    );
  if (next !== null && attempts === 0) return <span className="text-ink-3">Waiting</span>;
  return <span className="text-ink-3">–</span>;
}
