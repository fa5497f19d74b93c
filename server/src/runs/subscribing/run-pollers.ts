import { untilWoken } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import type { Database } from "../../base/database/index.ts";
import { readLastSeqs } from "../journal/index.ts";

/**
 * Waits for runs that other processes execute. Those tell when a journal has grown; since such a message may be lost, there is also a look
 * at the database from time to time: one query for all runs that are followed, and none while there are none.
 */
export interface RunPollers {
  /** Follows a run from now on: what is told while the follower reads is not missed. */
  join(runId: string): RunPoller;
  /** The run's journal has grown, or this process has begun to execute it. */
  wake(runId: string): void;
  /** Everybody looks again. */
  wakeAll(): void;
  /** How many follow. */
  readonly count: number;
  /** Nobody is woken any more: whoever watches gives up. */
  readonly closed: boolean;
  close(): void;
}

export interface RunPoller {
  /**
   * Resolves when the run's journal is or may be longer than `after`, at once if that was told since the last call; when `signal` aborts; and
   * when all followers are closed.
   */
  more(after: number, signal: AbortSignal): Promise<void>;
  /** There is no such run any more. */
  readonly gone: boolean;
  leave(): void;
}

/** Milliseconds between looks. */
const interval = 500;

interface Follower {
  after: number;
  gone: boolean;
  readonly wake: () => void;
}

export function createRunPollers(
  database: Database,
  onFollow: (runId: string) => void,
): RunPollers {
  const followed = new Map<string, Set<Follower>>();
  const closing = new AbortController();
  let count = 0;
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    try {
      while (followed.size > 0) {
        await sleep(interval, closing.signal);
        const runIds = [...followed.keys()];
        const lastSeqs = new Map(
          (await readLastSeqs(database, runIds)).map((row) => [row.id, row.last_seq]),
        );
        for (const runId of runIds) {
          const lastSeq = lastSeqs.get(runId);
          for (const follower of followed.get(runId) ?? []) {
            if (lastSeq === undefined) follower.gone = true;
            if (lastSeq === undefined || lastSeq > follower.after) follower.wake();
          }
        }
      }
    } catch {
      // We are closing; or the database is away, and whoever follows hears that from their own next read.
      wakeAll();
    } finally {
      looking = false;
    }
  }

  function wakeAll(): void {
    for (const pollers of followed.values()) for (const follower of pollers) follower.wake();
  }

  return {
    join(runId) {
      let told = false;
      let resume: (() => void) | undefined;
      const follower: Follower = {
        after: 0,
        gone: false,
        wake: () => {
          if (resume === undefined) told = true;
          else resume();
        },
      };
      const pollers = followed.get(runId) ?? new Set();
      if (pollers.size === 0) onFollow(runId);
      followed.set(runId, pollers.add(follower));
      count++;
      return {
        get gone() {
          return follower.gone;
        },
        more(after, signal) {
          follower.after = after;
          if (!looking) void look();
          return untilWoken(signal, (wake) => {
            resume = wake;
            if (told || closing.signal.aborted) wake();
            return () => {
              resume = undefined;
              told = false;
            };
          });
        },
        leave() {
          if (!pollers.delete(follower)) return;
          count--;
          if (pollers.size === 0) followed.delete(runId);
        },
      };
    },
    wake(runId) {
      for (const follower of followed.get(runId) ?? []) follower.wake();
    },
    wakeAll,
    get count() {
      return count;
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
