import { type FollowOptions, follow } from "./follow.ts";
import type { Settings } from "./options.ts";
import { endsRun, type WatchedEvent } from "./watched-event.ts";

/** The run goes on when `signal` ends the watch. */
export interface WatchOptions extends FollowOptions {
  /** The `seq` of the last event that was seen. Default 0: from the beginning. */
  readonly after?: number | undefined;
}

/**
 * The events of a run, live, until it has ended: each entry of its journal once and in order, over every cut, and between them what the
 * model says. Leaving the loop closes the connection.
 * @throws BeckonError when the credential or the run is refused, or Beckon has not been reached for five minutes.
 */
export function watch(
  settings: Settings,
  runId: string,
  { after = 0, ...options }: WatchOptions = {},
): AsyncGenerator<WatchedEvent> {
  let seen = after;
  return follow<WatchedEvent>(
    settings,
    {
      runId,
      call: () => ({
        method: "GET",
        path: "/runs/{run_id}/events",
        params: [runId],
        headers: { "last-event-id": seen === 0 ? undefined : seen },
      }),
      judge(event) {
        if (!("seq" in event)) return "new";
        if (event.seq <= seen) return "known";
        if (event.seq > seen + 1) return "gap";
        seen = event.seq;
        return endsRun(event) ? "last" : "new";
      },
    },
    options,
  );
}
