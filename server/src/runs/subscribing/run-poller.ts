import { untilWoken } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import type { Database } from "../../base/database/index.ts";
import { readLastSeqs } from "../journal/index.ts";

/**
 * Subscribers of this process to runs that other processes execute. Those processes notify this one
 * when a journal has grown. Since notifications can be lost, this process also polls the database,
 * with one query for all the runs. It does not poll while there are no subscribers.
 */
export interface RunPoller {
  /**
   * Subscribes to a run. A notification that arrives while the subscriber reads the journal makes
   * the next `waitForMore` resolve at once.
   */
  subscribe(runId: string): RunSubscription;
  /**
   * Wakes the subscribers of a run. To be called when the run's journal has grown, or when the run
   * begins to execute in this process.
   */
  wake(runId: string): void;
  /** Wakes the subscribers of all runs, so that each reads the journal again. */
  wakeAll(): void;
  /** Ids of the runs that have subscribers. */
  readonly runIds: readonly string[];
  /**
   * Whether `close` was called, because this process is stopping. If so, all subscribers that wait
   * for later events must end.
   */
  readonly closed: boolean;
  close(): void;
}

export interface RunSubscription {
  /**
   * Resolves when the run's journal may have events after `after`, when `signal` aborts, or when
   * `RunPoller.close` is called. Resolves at once if a notification arrived since the last call.
   */
  waitForMore(after: number, signal: AbortSignal): Promise<void>;
  /** Whether a poll found that the run was deleted. */
  readonly isDeleted: boolean;
  unsubscribe(): void;
}

/** Time between two polls of the database. */
const pollIntervalMs = 500;

interface Subscriber {
  after: number;
  isDeleted: boolean;
  readonly wake: () => void;
}

/**
 * Creates the run poller, which all subscribers of this process share.
 * @param onFirstSubscriber called when a run gets its first subscriber in this process.
 */
export function createRunPoller(
  database: Database,
  onFirstSubscriber: (runId: string) => void,
): RunPoller {
  const byRun = new Map<string, Set<Subscriber>>();
  const closing = new AbortController();
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    try {
      while (byRun.size > 0) {
        await sleep(pollIntervalMs, closing.signal);
        const runIds = [...byRun.keys()];
        const lastSeqs = new Map(
          (await readLastSeqs(database, runIds)).map((row) => [row.id, row.last_seq]),
        );
        for (const runId of runIds) {
          const lastSeq = lastSeqs.get(runId);
          for (const subscriber of byRun.get(runId) ?? []) {
            if (lastSeq === undefined) subscriber.isDeleted = true;
            if (lastSeq === undefined || lastSeq > subscriber.after) subscriber.wake();
          }
        }
      }
    } catch {
      // Either this process is stopping, or the database is unreachable. Woken subscribers find out
      // which: they end, or their own reads fail.
      wakeAll();
    } finally {
      isPolling = false;
    }
  }

  function wakeAll(): void {
    for (const subscribers of byRun.values())
      for (const subscriber of subscribers) subscriber.wake();
  }

  return {
    subscribe(runId) {
      let isNotified = false;
      let resume: (() => void) | undefined;
      const subscriber: Subscriber = {
        after: 0,
        isDeleted: false,
        wake: () => {
          if (resume === undefined) isNotified = true;
          else resume();
        },
      };
      const subscribers = byRun.get(runId) ?? new Set();
      if (subscribers.size === 0) onFirstSubscriber(runId);
      byRun.set(runId, subscribers.add(subscriber));
      return {
        get isDeleted() {
          return subscriber.isDeleted;
        },
        waitForMore(after, signal) {
          subscriber.after = after;
          if (!isPolling) void poll();
          return untilWoken(signal, (wake) => {
            resume = wake;
            if (isNotified || closing.signal.aborted) wake();
            return () => {
              resume = undefined;
              isNotified = false;
            };
          });
        },
        unsubscribe() {
          if (subscribers.delete(subscriber) && subscribers.size === 0) byRun.delete(runId);
        },
      };
    },
    wake(runId) {
      for (const subscriber of byRun.get(runId) ?? []) subscriber.wake();
    },
    wakeAll,
    get runIds() {
      return [...byRun.keys()];
    },
    get closed() {
      return closing.signal.aborted;
    },
    close() {
      closing.abort();
      wakeAll();
    },
  };
}
