import type { Settings } from "./options.ts";
import { type FollowOptions, type OpenedStream, subscribe } from "./subscribe.ts";
import { isFinalEvent, type WatchedEvent } from "./watched-event.ts";

/** Options of `runs.watch`. The run continues when the watch ends. */
export interface WatchOptions extends FollowOptions {
  /** The `seq` of the last event received. Default 0: from the start. */
  readonly after?: number | undefined;
  /** `summary` leaves out texts, arguments and results. Default `full`. */
  readonly view?: "full" | "summary" | undefined;
}

/**
 * Yields the events of a run as they occur, until the run ends. Each entry of the run's journal is
 * yielded once and in order, and between these the model's output while it is generated. Reconnects
 * automatically; leaving the loop closes the connection.
 * @param opened a response that already streams the events after `after`; undefined if the function
 *   must send a request for them
 * @throws BeckonError if the server rejects the credential or finds no run with this id, or after
 *   five minutes without a connection
 */
export function watch(
  settings: Settings,
  runId: string,
  { after = 0, view, ...options }: WatchOptions = {},
  opened?: OpenedStream,
): AsyncGenerator<WatchedEvent> {
  let lastSeq = after;
  return subscribe<WatchedEvent>(
    settings,
    {
      runId,
      opened,
      call: () => ({
        method: "GET",
        path: "/runs/{run_id}/events",
        params: [runId],
        query: { view },
        headers: { "last-event-id": lastSeq === 0 ? undefined : lastSeq },
      }),
      classify(event) {
        if (!("seq" in event)) return "new";
        if (event.seq <= lastSeq) return "known";
        if (event.seq > lastSeq + 1) return "gap";
        lastSeq = event.seq;
        return isFinalEvent(event) ? "last" : "new";
      },
    },
    options,
  );
}
