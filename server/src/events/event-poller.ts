import { untilWoken } from "../base/abort.ts";
import { elapsed } from "../base/clock.ts";
import {
  type Database,
  failureKind,
  HorizonMonitor,
  type ProcessMessages,
} from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import { LateListener } from "../base/listener/index.ts";
import type { Log } from "../base/log.ts";
import { type CatchUp, createCatchUp } from "./catch-up.ts";
import { beginning, isAfter, type Position } from "./position.ts";
import { nextLimit, readEnd, readEventBatch, type StoredEvent } from "./store.ts";

/**
 * Reads new events of all workspaces that have subscribers in this process, with one query for all
 * subscribers. It polls the database when this or another process notifies it of new events. Since
 * notifications can be lost, it also polls at an interval. It does not poll without subscribers.
 */
export interface EventPoller {
  /**
   * Subscribes to the events of a workspace after the subscription's `start`. The subscriber must
   * read earlier events from the database itself.
   * @param options `merge`: whether the subscriber accepts that an event that ends a run replaces
   *   the run's earlier events. This is done if all subscribers of this process accept it, because
   *   one query reads the events of all. Default false.
   */
  subscribe(workspaceId: string, options?: { readonly merge?: boolean }): EventSubscription;
  /** Reads these earlier events. */
  readonly catchUp: CatchUp;
  /** Finds transactions that hold back events. `worker.ts` polls it, also without subscribers. */
  readonly horizon: HorizonMonitor;
  /**
   * Records that this process has written events: polls at once, and notifies other processes if
   * they have subscribers.
   */
  noteWritten(): void;
  /** Registers the one listener that `noteWritten` calls, which wakes the sender of deliveries. */
  onWritten(listener: () => void): void;
  /** Polls at once. Must be called when another process has, or may have, written events. */
  wake(): void;
  /**
   * Records that another process has subscribers. For the next 30 seconds this process notifies the
   * other processes when it has written events.
   */
  noteRemoteSubscriber(): void;
  readonly closed: boolean;
  close(): void;
}

export interface EventSubscription {
  /**
   * Position after which the subscription gets all events. Resolves to undefined if the poller is
   * closed.
   */
  readonly start: Promise<Position | undefined>;
  /**
   * Returns the events that were read since the last call; undefined if there were too many to
   * keep. After that the subscriber must unsubscribe and subscribe again. Subscribers of a
   * workspace that keep up get the same array, so they can share what is computed from it.
   */
  take(): readonly StoredEvent[] | undefined;
  /**
   * Resolves when there are events to `take` or there were too many to keep, when `signal` aborts,
   * or when the poller is closed.
   */
  waitForMore(signal: AbortSignal): Promise<void>;
  unsubscribe(): void;
}

/** Maximum number of events that one query reads. */
const maxBatchEvents = 800;
/**
 * Maximum number of events that are kept for a slow subscriber. All subscribers of a workspace
 * share the event objects, so each further slow subscriber needs little memory.
 */
const maxBacklogEvents = 1_600;
/**
 * Maximum total length of the data, as JSON, of the events that are kept for a slow subscriber.
 * Parsed data can take 20 times as much memory.
 */
const maxBacklogCharacters = 2 * 1024 * 1024;
/** Time between two polls if there is no notification. */
const pollIntervalMs = 500;
/**
 * Pause after a poll that has found events and read all of them. Without it, each poll under load
 * would find the events of a single commit only, and polling would cost more CPU than executing the
 * runs. People do not notice the delay, and only events that are written shortly after others are
 * delayed.
 */
const gapMs = 100;
/**
 * The pause if all subscribers accept merged events. They show the states of many runs, as
 * dashboards do. Each poll and each write to a subscriber has a cost of its own, however few events
 * it has, so fewer polls cost less.
 */
const mergedGapMs = 500;
/**
 * The pause instead of `mergedGapMs` if the last poll read at least `manyEvents`. Nobody can follow
 * that many. In a longer time more runs both start and end, so that more events are merged.
 */
const longMergedGapMs = 1_000;
const manyEvents = 100;
/**
 * Time until the next poll if the last one found an open transaction. Events of transactions with
 * higher ids can be read only after this transaction has ended, and no notification reports its
 * end. The time doubles with each poll that finds an open transaction, up to `pollIntervalMs`.
 */
const heldBackRetryMs = 4;
/**
 * How long this process notifies other processes of the events that it writes, after one of them
 * has requested it.
 */
const notifyForMs = 30_000;
/** Time between two requests that ask other processes to notify this one. */
const requestIntervalMs = 10_000;

interface Subscriber extends EventSubscription {
  readonly workspaceId: string;
  readonly merge: boolean;
  begin(at: Position | undefined): void;
  push(events: readonly StoredEvent[]): void;
}

/** Creates the event poller that all subscribers of this process share. */
export function createEventPoller({
  database,
  processMessages,
  log,
}: {
  database: Database;
  processMessages: ProcessMessages;
  log: Log;
}): EventPoller {
  const joining = new Set<Subscriber>();
  const subscribers = new Map<string, Set<Subscriber>>();
  /** Those of `subscribers` that do not accept merged events. */
  const unmergedSubscribers = new Set<Subscriber>();
  const closing = new AbortController();
  let running = false;
  let woken = false;
  let interrupt = () => {};
  let endGap = () => {};
  let notifyUntil = Number.NEGATIVE_INFINITY;
  const written = new LateListener();

  function wake(): void {
    woken = true;
    interrupt();
  }

  /** Pauses until the time is over or the function given to `setEnd` is called. */
  const pauseFor = (ms: number, setEnd: (end: () => void) => void): Promise<void> =>
    untilWoken(closing.signal, (end) => {
      const timer = setTimeout(end, ms);
      setEnd(end);
      return () => {
        clearTimeout(timer);
        setEnd(() => {});
      };
    });

  async function pauseUnlessWoken(ms: number): Promise<void> {
    if (woken) return;
    await pauseFor(ms, (end) => {
      interrupt = end;
    });
  }

  /**
   * Pauses between two polls under load. New events do not end the pause; new subscribers do.
   * @param readCount number of events that the last poll read.
   */
  function pauseForGap(readCount: number): Promise<void> {
    const mergedMs = readCount < manyEvents ? mergedGapMs : longMergedGapMs;
    return pauseFor(unmergedSubscribers.size === 0 ? mergedMs : gapMs, (end) => {
      endGap = end;
    });
  }

  /** Lets the subscribers in `joining` get the events after `position`. */
  function join(position: Position): void {
    for (const subscriber of joining) {
      const { workspaceId, merge } = subscriber;
      if (!merge) unmergedSubscribers.add(subscriber);
      subscribers.set(workspaceId, (subscribers.get(workspaceId) ?? new Set()).add(subscriber));
      subscriber.begin(position);
    }
    joining.clear();
  }

  async function run(): Promise<void> {
    running = true;
    let position: Position | undefined;
    let limit = maxBatchEvents;
    let requestedAt = Number.NEGATIVE_INFINITY;
    let retryMs = 0;
    while (joining.size + subscribers.size > 0 && !closing.signal.aborted) {
      if (elapsed() - requestedAt > requestIntervalMs) {
        requestedAt = elapsed();
        processMessages.send({ kind: "eventSubscribers" });
      }
      woken = false;
      try {
        // The position of the last event can be long ago. Without `end`, the new subscribers would
        // get all events of their workspaces since then. One `readEnd` serves all that have joined.
        const end = joining.size > 0 ? await readEnd(database.engine) : undefined;
        const batch = await readEventBatch(database.engine, [...subscribers.keys()], {
          after: position ?? beginning,
          limit,
          merge: unmergedSubscribers.size === 0,
        });
        position = batch.end;
        limit = nextLimit(batch, limit, maxBatchEvents);
        for (const [workspaceId, events] of Map.groupBy(
          batch.events,
          (event) => event.workspaceId,
        )) {
          for (const subscriber of subscribers.get(workspaceId) ?? []) subscriber.push(events);
        }
        if (end !== undefined) {
          // The batch was read after `end`, so it has all events up to there if there are no more.
          if (!batch.hasMore && isAfter(end, position)) position = end;
          join(position);
          continue;
        }
        if (batch.hasMore) continue;
        if (batch.events.length > 0 && joining.size === 0) await pauseForGap(batch.readCount);
        retryMs = batch.isHeldBack ? Math.min(pollIntervalMs, retryMs * 2 || heldBackRetryMs) : 0;
        await pauseUnlessWoken(retryMs || pollIntervalMs);
      } catch (thrown) {
        if (failureKind(thrown) === "lost") log.outages.database.failed(thrown);
        else log.write("reading events failed; it will be retried", { reason: messageOf(thrown) });
        woken = false;
        await pauseUnlessWoken(pollIntervalMs);
      }
    }
    running = false;
  }

  return {
    subscribe(workspaceId, { merge = false } = {}) {
      const start = Promise.withResolvers<Position | undefined>();
      let backlog: readonly StoredEvent[] = [];
      let characters = 0;
      let hasOverflowed = false;
      let resume = () => {};
      const subscriber: Subscriber = {
        workspaceId,
        merge,
        start: start.promise,
        begin: start.resolve,
        push(events) {
          characters = events.reduce((sum, event) => sum + event.characters, characters);
          hasOverflowed ||=
            backlog.length + events.length > maxBacklogEvents || characters > maxBacklogCharacters;
          if (hasOverflowed) backlog = [];
          else backlog = backlog.length === 0 ? events : [...backlog, ...events];
          resume();
        },
        take() {
          const taken = backlog;
          backlog = [];
          characters = 0;
          return hasOverflowed ? undefined : taken;
        },
        waitForMore(signal) {
          if (hasOverflowed || backlog.length > 0 || closing.signal.aborted)
            return Promise.resolve();
          return untilWoken(signal, (wake) => {
            resume = wake;
            return () => {
              resume = () => {};
            };
          });
        },
        unsubscribe() {
          joining.delete(subscriber);
          unmergedSubscribers.delete(subscriber);
          const others = subscribers.get(workspaceId);
          others?.delete(subscriber);
          if (others?.size === 0) subscribers.delete(workspaceId);
        },
      };
      if (closing.signal.aborted) {
        subscriber.begin(undefined);
        return subscriber;
      }
      joining.add(subscriber);
      if (running) {
        endGap();
        wake();
      } else void run();
      return subscriber;
    },
    catchUp: createCatchUp(database),
    horizon: new HorizonMonitor(database.engine, log),
    onWritten: written.register,
    noteWritten() {
      written.call();
      if (running) wake();
      if (elapsed() < notifyUntil) processMessages.send({ kind: "events" });
    },
    wake,
    noteRemoteSubscriber() {
      notifyUntil = elapsed() + notifyForMs;
    },
    get closed() {
      return closing.signal.aborted;
    },
    close() {
      closing.abort();
      for (const subscriber of joining) subscriber.begin(undefined);
      for (const each of subscribers.values()) for (const subscriber of each) subscriber.push([]);
    },
  };
}
