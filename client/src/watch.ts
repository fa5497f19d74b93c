import { type Call, maxRepeatMs } from "./call.ts";
import type { LabelOptions, OnceOptions, Settings } from "./options.ts";
import { type FollowOptions, type OpenedStream, subscribe } from "./subscribe.ts";
import { isFinalEvent, type WatchedEvent } from "./watched-event.ts";

/** Options of `runs.watch`. The run continues when the watch ends. */
export interface WatchOptions extends FollowOptions {
  /** The `seq` of the last event received. Default 0: from the start. */
  readonly after?: number | undefined;
  /** `summary` leaves out texts, arguments and results. Default `full`. */
  readonly view?: "full" | "summary" | undefined;
}

/** A request that started a run. Its response streams the run's events. */
export interface StreamedStart {
  readonly opened: OpenedStream;
  /**
   * The request that started the run. Sent again with the same Idempotency-Key, it continues the
   * stream.
   */
  readonly call: Call;
  readonly options: OnceOptions & LabelOptions & { readonly idempotencyKey: string };
  /**
   * When the Idempotency-Key of `options` was first sent, in milliseconds of `Date.now()`. If that
   * is unknown, it is `-Infinity`, and the request is not repeated.
   */
  readonly sentAt: number;
}

/**
 * Yields the events of a run as they occur, until the run ends. Each entry of the run's journal is
 * yielded once and in order, and between these the model's output while it is generated. Reconnects
 * automatically; leaving the loop closes the connection.
 * @param start the request that started the run, whose response already streams the events after
 *   `after`. It is sent again to resume the stream if the credential can invoke agents but not read
 *   runs. Undefined if no stream is open yet
 * @throws BeckonError if the server rejects the credential or finds no run with this id, or after
 *   five minutes without a connection, or at once if the server's certificate is not trusted
 */
export function watch(
  settings: Settings,
  runId: string,
  { after = 0, view, ...options }: WatchOptions = {},
  start?: StreamedStart,
): AsyncGenerator<WatchedEvent> {
  let lastSeq = after;
  const read: Call = {
    method: "GET",
    path: "/runs/{run_id}/events",
    params: [runId],
    query: { view },
  };
  let canRead = true;
  /** Returns the request that started the run; undefined if it cannot be repeated safely. */
  const repeatable = () =>
    start !== undefined && Date.now() - start.sentAt < maxRepeatMs ? start.call : undefined;
  return subscribe<WatchedEvent>(
    settings,
    {
      runId,
      opened: start?.opened,
      options: start?.options,
      call: () => ({
        ...((canRead ? undefined : repeatable()) ?? read),
        headers: { "last-event-id": lastSeq === 0 ? undefined : lastSeq },
      }),
      changeCall({ status }) {
        if (status !== 403 || !canRead || repeatable() === undefined) return false;
        canRead = false;
        return true;
      },
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
