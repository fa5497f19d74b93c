import type { ListEventsQuery } from "./generated/schemas.ts";
import type { Settings } from "./options.ts";
import { type FollowOptions, subscribe } from "./subscribe.ts";
import type { StreamNotice, WorkspaceEvent } from "./watched-event.ts";

/**
 * Query of `events.watch`: filters, and as `after` the cursor of the last event received. Without
 * `after`, only new events are sent.
 */
export type WatchEventsQuery = Omit<ListEventsQuery, "limit">;

/** Options of `events.watch`. */
export interface WatchEventsOptions extends FollowOptions {
  /**
   * Called with the cursor of each event once the loop requests the next one, and with the cursors
   * that the server sends after events that the filters leave out. A watch that starts `after` the
   * last of these cursors skips no event that the loop has not handled.
   */
  readonly onCursor?: ((cursor: string) => void) | undefined;
}

/**
 * Yields the events of all runs, and the workspace events whose type is in `kind`, each once and as
 * it occurs. Reconnects automatically. The stream does not end by itself; leaving the loop closes
 * the connection. Without a cursor the first event is `stream.opened`. A reader that loads data
 * after this event, and then applies the events of the stream, misses no change.
 * @throws BeckonError if the server rejects the credential, the cursor or the filter `agent_id`,
 *   after five minutes without a connection, or at once if `Retry-After` ends later than that or
 *   the server's certificate is not trusted
 */
export function watchEvents(
  settings: Settings,
  { after, ...filter }: WatchEventsQuery = {},
  { onCursor, ...options }: WatchEventsOptions = {},
): AsyncGenerator<WorkspaceEvent | StreamNotice> {
  let cursor = after;
  return subscribe<WorkspaceEvent | StreamNotice>(
    settings,
    {
      call: () => ({
        method: "GET",
        path: "/events",
        query: filter,
        headers: { "last-event-id": cursor },
      }),
      classify(event) {
        if ("cursor" in event) cursor = event.cursor;
        return "new";
      },
      advance: (advanced) => {
        cursor = advanced;
        onCursor?.(advanced);
      },
      handled(event) {
        if ("cursor" in event) onCursor?.(event.cursor);
      },
    },
    options,
  );
}
