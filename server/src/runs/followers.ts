import { sleep } from "../base/clock.ts";
import type { Database } from "../base/database/index.ts";
import { readLastSeqs } from "./result-store.ts";

/** Waits for runs that other processes execute. One query for all of them, and none while nobody waits. */
export interface Followers {
  /** Resolves when the run's journal is longer than `after`, or `signal` aborts. */
  follow(runId: string, after: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Milliseconds between looks. */
const interval = 250;

interface Follower {
  readonly after: number;
  readonly wake: () => void;
}

export function createFollowers(database: Database): Followers {
  const waiting = new Map<string, Set<Follower>>();
  const closing = new AbortController();
  let looking = false;

  async function look(): Promise<void> {
    looking = true;
    try {
      while (waiting.size > 0 && !closing.signal.aborted) {
        await sleep(interval, closing.signal);
        const rows = await readLastSeqs(database, [...waiting.keys()]);
        for (const row of rows) {
          for (const follower of waiting.get(row.id) ?? []) if (row.last_seq > follower.after) follower.wake();
        }
      }
    } catch {
      // The database is away, which whoever follows hears from their own next read; or we are closing.
      if (!closing.signal.aborted) for (const followers of waiting.values()) for (const follower of followers) follower.wake();
    } finally {
      looking = false;
    }
  }

  return {
    follow(runId, after, signal) {
      return new Promise<void>((resolve) => {
        const followers = waiting.get(runId) ?? new Set();
        waiting.set(runId, followers);
        const follower: Follower = {
          after,
          wake: () => {
            signal.removeEventListener("abort", follower.wake);
            followers.delete(follower);
            if (followers.size === 0) waiting.delete(runId);
            resolve();
          },
        };
        followers.add(follower);
        signal.addEventListener("abort", follower.wake, { once: true });
        if (signal.aborted || closing.signal.aborted) follower.wake();
        else if (!looking) void look();
      });
    },
    close() {
      closing.abort();
      for (const followers of [...waiting.values()]) for (const follower of [...followers]) follower.wake();
    },
  };
}
