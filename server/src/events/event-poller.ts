import { untilWoken } from "../base/abort.ts";
import { elapsed } from "../base/clock.ts";
import { type Database, failureKind, type ProcessMessages } from "../base/database/index.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Position } from "./position.ts";
import { type PlacedEvent, readEnd, readStretch } from "./store.ts";

/**
 * The end of the order of all events, read once for all who follow it in this process, of whichever workspace. It reads when told that
 * something was written, here or in another process, and from time to time, since such a message may be lost; and not at all while nobody follows.
 */
export interface EventPoller {
  /** Follows a workspace from the place that `begun` tells: what was before it is read from the database. */
  join(workspaceId: string): EventSubscription;
  /** Something was written here. */
  noteWritten(): void;
  /** Another process has written something, or may have. */
  wake(): void;
  /** Another process follows, and has to be told for a while what is written here. */
  noteRemoteSubscriber(): void;
  readonly closed: boolean;
  close(): void;
}

export interface EventSubscription {
  /** Resolves with the place after which this reader misses nothing; undefined when the tail is closed before. */
  readonly begun: Promise<Position | undefined>;
  /** What has come since the last call; undefined: the reader was too slow and has missed some, so it must leave and begin anew. */
  take(): readonly PlacedEvent[] | undefined;
  /** Resolves when there is something to take, when `signal` aborts, and when the tail is closed. */
  more(signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** Events read at once, of 64 KiB each at most. */
const stretchLimit = 200;
/** Events kept for a reader who is behind. All readers of a workspace share them. */
const backlogLimit = 400;
/** Milliseconds between looks when nobody tells. */
const interval = 500;
/** Milliseconds until what a transaction under way holds back is looked for again, doubled each time. */
const heldPause = 4;
/** Milliseconds for which other processes tell what they write, and how often they are asked to. */
const toldFor = 30_000;
const askEvery = 10_000;

interface Following extends EventSubscription {
  readonly workspaceId: string;
  begin(at: Position | undefined): void;
  give(events: readonly PlacedEvent[]): void;
}

/** Makes the reader of new events that all subscribers of this process share. */
export function createEventPoller({
  database,
  processMessages,
  log,
}: {
  database: Database;
  processMessages: ProcessMessages;
  log: Log;
}): EventPoller {
  const joining = new Set<Following>();
  const following = new Map<string, Set<Following>>();
  const closing = new AbortController();
  let running = false;
  let woken = false;
  let interrupt = () => {};
  let tellUntil = Number.NEGATIVE_INFINITY;

  function wake(): void {
    woken = true;
    interrupt();
  }

  async function pause(ms: number): Promise<void> {
    if (woken) return;
    await untilWoken(closing.signal, (wake) => {
      const timer = setTimeout(wake, ms);
      interrupt = wake;
      return () => {
        clearTimeout(timer);
        interrupt = () => {};
      };
    });
  }

  async function run(): Promise<void> {
    running = true;
    let place: Position | undefined;
    let askedAt = Number.NEGATIVE_INFINITY;
    let held = 0;
    while (joining.size + following.size > 0 && !closing.signal.aborted) {
      if (elapsed() - askedAt > askEvery) {
        askedAt = elapsed();
        processMessages.send({ kind: "follow" });
      }
      woken = false;
      try {
        place ??= await readEnd(database.engine);
        for (const reader of joining) {
          following.set(
            reader.workspaceId,
            (following.get(reader.workspaceId) ?? new Set()).add(reader),
          );
          reader.begin(place);
        }
        joining.clear();
        const stretch = await readStretch(database.engine, [...following.keys()], {
          after: place,
          limit: stretchLimit,
        });
        place = stretch.end;
        for (const [workspaceId, events] of Map.groupBy(
          stretch.events,
          (event) => event.workspaceId,
        )) {
          for (const reader of following.get(workspaceId) ?? []) reader.give(events);
        }
        if (stretch.cut) continue;
        held = stretch.held ? Math.min(interval, held * 2 || heldPause) : 0;
        await pause(held || interval);
      } catch (thrown) {
        if (failureKind(thrown) !== "lost")
          log.error({ reason: messageOf(thrown) }, "reading events failed; it is tried again");
        woken = false;
        await pause(interval);
      }
    }
    running = false;
  }

  return {
    join(workspaceId) {
      const begun = Promise.withResolvers<Position | undefined>();
      let waiting: PlacedEvent[] = [];
      let missed = false;
      let resume = () => {};
      const reader: Following = {
        workspaceId,
        begun: begun.promise,
        begin: begun.resolve,
        give(events) {
          missed ||= waiting.length + events.length > backlogLimit;
          if (missed) waiting = [];
          else waiting.push(...events);
          resume();
        },
        take() {
          const taken = waiting;
          waiting = [];
          return missed ? undefined : taken;
        },
        more(signal) {
          if (missed || waiting.length > 0 || closing.signal.aborted) return Promise.resolve();
          return untilWoken(signal, (wake) => {
            resume = wake;
            return () => {
              resume = () => {};
            };
          });
        },
        leave() {
          joining.delete(reader);
          const others = following.get(workspaceId);
          others?.delete(reader);
          if (others?.size === 0) following.delete(workspaceId);
        },
      };
      if (closing.signal.aborted) {
        reader.begin(undefined);
        return reader;
      }
      joining.add(reader);
      if (running) wake();
      else void run();
      return reader;
    },
    noteWritten() {
      if (running) wake();
      if (elapsed() < tellUntil) processMessages.send({ kind: "events" });
    },
    wake,
    noteRemoteSubscriber() {
      tellUntil = elapsed() + toldFor;
    },
    get closed() {
      return closing.signal.aborted;
    },
    close() {
      closing.abort();
      for (const reader of joining) reader.begin(undefined);
      for (const readers of following.values()) for (const reader of readers) reader.give([]);
    },
  };
}
