import type { ListEventsQuery } from "./generated/schemas.ts";
import type { Settings } from "./options.ts";
import { type FollowOptions, subscribe } from "./subscribe.ts";
import type { StreamNotice, WorkspaceEvent } from "./watched-event.ts";

/** Filters. `after`: the cursor of the last event received. Default: new events only. */
export type WatchEventsQuery = Omit<ListEventsQuery, "limit">;

/**
 * Yields the events of all runs, and the workspace events named by `kind`, live and each once.
 * Reconnects automatically. Without a cursor it starts with `stream.opened`: data read after that
 * event, together with the stream, has no gap. Endless; leaving the loop closes the connection.
 * @throws BeckonError if the credential, the agent or the cursor is rejected, or after five minutes
 * without a connection
 */
export function watchEvents(
  settings: Settings,
  { after, ...filter }: WatchEventsQuery = {},
  options: FollowOptions = {},
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
    },
    options,
  );
}
