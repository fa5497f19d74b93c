import { sleep } from "../base/clock.ts";
import type { Database } from "../base/database/index.ts";
import { readLastSeqs } from "./result-store.ts";

/**
 * Waits for runs that other processes execute. Those tell when a journal has grown; since such a message may be lost, there is also a look
 * at the database from time to time: one query for all runs that are followed, and none while there are none.
 */
export interface Followers {
  /** Resolves when the run's journal is or may be longer than `after`, or `signal` aborts. */
  follow(runId: string, after: number, signal: AbortSignal): Promise<void>;
  /** The run's journal has grown, or this process has begun to execute it. */
  wake(runId: string): void;
  /** Nobody is woken any more: whoever watches gives up. */
  readonly closed: boolean;
  close(): void;
}

/** Milliseconds between looks. */
const interval = 500;

interface Follower {
  readonly after: number;
  readonly wake: () => void;
}

export function createFollowers(database: Database, onFollow: (runId: string) => void): Followers {
  const waiting = new Map<string, Set<Follower>>();
  const closing = new AbortController();
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    try {
      while (waiting.size > 0) {
        await sleep(interval, closing.signal);
        for (const row of await readLastSeqs(database, [...waiting.keys()])) {
          for (const follower of waiting.get(row.id) ?? []) if (row.last_seq > follower.after) follower.wake();
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
    for (const followers of [...waiting.values()]) for (const follower of [...followers]) follower.wake();
  }

  return {
    follow(runId, after, signal) {
      return new Promise<void>((resolve) => {
        const followers = waiting.get(runId) ?? new Set();
        const follower: Follower = {
          after,
          wake: () => {
            signal.removeEventListener("abort", follower.wake);
            followers.delete(follower);
            if (followers.size === 0) waiting.delete(runId);
            resolve();
          },
        };
        if (signal.aborted || closing.signal.aborted) return resolve();
        if (followers.size === 0) onFollow(runId);
        waiting.set(runId, followers.add(follower));
        signal.addEventListener("abort", follower.wake, { once: true });
        if (!looking) void look();
      });
    },
    wake(runId) {
      for (const follower of [...(waiting.get(runId) ?? [])]) follower.wake();
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
