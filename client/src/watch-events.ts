import { type FollowOptions, follow } from "./follow.ts";
import type { ListEventsQuery } from "./generated/schemas.ts";
import type { Settings } from "./options.ts";
import type { StreamNotice, WorkspaceEvent } from "./watched-event.ts";

/** `after`: the cursor of what was seen last. Without it, the events to come. */
export type WatchEventsQuery = Omit<ListEventsQuery, "limit">;

/**
 * The events of all runs, and those of no run that `kind` names, live, each once, over every cut.
 * It begins with `stream.opened` when there was no cursor: what is read after it, and the stream,
 * leave no gap. It does not end by itself; leaving the loop closes the connection.
 * @throws BeckonError when the credential, the agent or the cursor is refused, or Beckon has not been reached for five minutes.
 */
export function watchEvents(
  settings: Settings,
  { after, ...filter }: WatchEventsQuery = {},
  options: FollowOptions = {},
): AsyncGenerator<WorkspaceEvent | StreamNotice> {
  let seen = after;
  return follow<WorkspaceEvent | StreamNotice>(
    settings,
    {
      call: () => ({
        method: "GET",
        path: "/events",
        query: filter,
        headers: { "last-event-id": seen },
      }),
      judge(event) {
        if ("cursor" in event) seen = event.cursor;
        return "new";
      },
    },
    options,
  );
}
