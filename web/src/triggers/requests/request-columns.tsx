import type { ReceivedRequest } from "@beckon/contract";
import { ByteSize, type Column, Time, UserText } from "../../ui/index.ts";
import { OutcomeMark } from "./outcome-mark.tsx";

/**
 * The columns of received requests.
 * @param isNarrow whether the time is below the event, as on phones
 * @param isWide whether a whole event id fits
 */
export function requestColumns(
  isNarrow: boolean,
  isWide: boolean,
): readonly Column<ReceivedRequest>[] {
  return [
    {
      id: "event",
      header: "Event",
      cell: (request) => (
        <span className="flex min-w-0 flex-col">
          <EventName request={request} />
          {isNarrow ? (
            <span className="text-label text-ink-3">
              <Time value={request.received_at} />
            </span>
          ) : null}
        </span>
      ),
    },
    {
      id: "outcome",
      header: "Outcome",
      width: 144,
      cell: ({ outcome }) => <OutcomeMark outcome={outcome} />,
    },
    {
      id: "details",
      header: "Details",
      width: isWide ? 320 : 208,
      from: "lg",
      cell: ({ event_id, error }) =>
        error !== null ? (
          <span className="text-ink-2">
            <UserText text={error} />
          </span>
        ) : event_id === null ? (
          <span className="text-ink-3">–</span>
        ) : (
          <span className="font-mono text-dense">
            <UserText text={event_id} />
          </span>
        ),
    },
    {
      id: "size",
      header: "Size",
      width: 80,
      align: "end",
      from: "lg",
      cell: ({ size }) => <ByteSize bytes={size} />,
    },
    {
      id: "received",
      header: "Received",
      width: 112,
      align: "end",
      from: "sm",
      cell: ({ received_at }) => <Time value={received_at} />,
    },
  ];
}

/**
 * The event type of a request; without one, its content type, or "Request" if it has neither. A
 * replay is marked as such.
 */
export function EventName({ request }: { readonly request: ReceivedRequest }) {
  const { event_type, content_type, replay_of } = request;
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      {event_type === null ? (
        <span className="truncate text-ink-2">{content_type ?? "Request"}</span>
      ) : (
        <span className="min-w-0 font-mono text-dense">
          <UserText text={event_type} />
        </span>
      )}
      {replay_of === null ? null : <span className="shrink-0 text-label text-ink-3">replay</span>}
    </span>
  );
}
