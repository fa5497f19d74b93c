import { raceSignal } from "../base/abort.ts";
import type { EventPoller, EventSubscription } from "./event-poller.ts";
import { isAfter, type Position } from "./position.ts";
import { type EventSources, nextLimit, type StoredEvent } from "./store.ts";

/**
 * Maximum number of events that one query reads while a subscriber catches up from the database.
 */
const maxBatchEvents = 128;

/**
 * Yields the workspace's events after the position `after`, in order and without gaps, in batches
 * of at least one event, until `signal` aborts or the poller is closed. A subscriber that is too
 * slow for the shared poller continues from the database, and subscribes to the poller again once
 * it has caught up. So the memory for slow subscribers stays bounded.
 * @param sources the tables whose events the subscriber needs. Those of the other table can be
 *   missing. Default: both.
 * @param merge whether an event that ends a run can replace the run's earlier events: see
 *   `EventPoller.subscribe`. Default false.
 */
export async function* subscribeToWorkspace(
  { eventPoller }: { readonly eventPoller: EventPoller },
  workspaceId: string,
  {
    after,
    sources,
    merge = false,
    signal,
  }: { after: Position; sources?: EventSources; merge?: boolean; signal: AbortSignal },
): AsyncGenerator<readonly StoredEvent[]> {
  let position = after;
  let limit = maxBatchEvents;
  while (!signal.aborted && !eventPoller.closed) {
    const subscription = eventPoller.subscribe(workspaceId, { merge });
    try {
      const start = await raceSignal(subscription.start, signal).catch(() => undefined);
      if (start === undefined) return;
      // If `start` is before `position`, there is nothing to read here. The poller then returns
      // events that were already yielded, which are skipped below.
      for (let hasMore = isAfter(start, position); hasMore && !signal.aborted; ) {
        const batch = await eventPoller.catchUp(workspaceId, {
          after: position,
          upTo: start,
          limit,
          sources,
          signal,
        });
        if (batch === undefined) return;
        // Events are yielded one by one here. A stream serializes all that is yielded at once
        // (`write-stream.ts`), and does not share the bytes with other streams while it catches up.
        // With batches, each slow stream would hold the bytes of a whole batch in memory.
        for (const event of batch.events) yield [event];
        position = batch.end;
        limit = nextLimit(batch, limit, maxBatchEvents);
        hasMore = batch.hasMore;
      }
      for await (const events of batches(subscription, eventPoller, signal)) {
        const from = events.findIndex((event) => isAfter(event, position));
        if (from === -1) continue;
        yield from === 0 ? events : events.slice(from);
        position = events.at(-1) ?? position;
      }
    } finally {
      subscription.unsubscribe();
    }
  }
}

/**
 * Yields the events that the poller has read, in batches. Ends when the poller has read more events
 * than it keeps for a slow subscriber, when the poller is closed, or when `signal` aborts.
 */
async function* batches(
  subscription: EventSubscription,
  eventPoller: EventPoller,
  signal: AbortSignal,
): AsyncGenerator<readonly StoredEvent[]> {
  while (!signal.aborted && !eventPoller.closed) {
    await subscription.waitForMore(signal);
    const events = subscription.take();
    if (events === undefined) return;
    if (events.length > 0) yield events;
  }
}
