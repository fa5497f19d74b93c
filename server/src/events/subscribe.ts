import { raceSignal } from "../base/abort.ts";
import type { Database } from "../base/database/index.ts";
import type { EventPoller, EventSubscription } from "./event-poller.ts";
import type { Position } from "./position.ts";
import { type PlacedEvent, readStretch } from "./store.ts";

/** Events read at once for a reader who is behind. */
const stretchLimit = 100;

/**
 * The workspace's events after `after` and those to come, in order and without gaps, until `signal` aborts or the tail is closed. A reader who
 * does not keep up goes on from the database and comes back to the tail when it has caught up; nothing is kept for it in between.
 */
export async function* subscribeToWorkspace(
  { database, tail }: { database: Database; tail: EventPoller },
  workspaceId: string,
  { after, signal }: { after: Position; signal: AbortSignal },
): AsyncGenerator<PlacedEvent> {
  let place = after;
  while (!signal.aborted && !tail.closed) {
    const reader = tail.join(workspaceId);
    try {
      const begun = await raceSignal(reader.begun, signal).catch(() => undefined);
      if (begun === undefined) return;
      for (let cut = true; cut && !signal.aborted; ) {
        const stretch = await readStretch(database.engine, [workspaceId], {
          after: place,
          upTo: begun,
          limit: stretchLimit,
        });
        yield* stretch.events;
        place = stretch.end;
        cut = stretch.cut;
      }
      for await (const events of batches(reader, tail, signal)) {
        for (const event of events) {
          yield event;
          place = event;
        }
      }
    } finally {
      reader.leave();
    }
  }
}

/** What the tail brings, until the reader has missed some of it. */
async function* batches(
  reader: EventSubscription,
  tail: EventPoller,
  signal: AbortSignal,
): AsyncGenerator<readonly PlacedEvent[]> {
  while (!signal.aborted && !tail.closed) {
    await reader.more(signal);
    const events = reader.take();
    if (events === undefined) return;
    yield events;
  }
}
