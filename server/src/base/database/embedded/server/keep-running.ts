import { elapsed, sleep } from "../../../clock.ts";
import { messageOf } from "../../../errors.ts";
import type { Log } from "../../../log.ts";
import { RestartDelay } from "../../../restart-delay.ts";
import type { Postmaster } from "./run-postmaster.ts";

/** A PostgreSQL that is restarted whenever it exits, until it is stopped. */
export interface SupervisedPostmaster {
  /** Pid of the current postmaster, or of the last one while none is running. */
  readonly pid: number;
  /** Calls `listener` with the reason each time PostgreSQL exits without `stop`. */
  onExit(listener: (reason: string) => void): void;
  /** Stops PostgreSQL. Once `force` aborts, a clean shutdown gets only 3 s. */
  stop(force?: AbortSignal): Promise<void>;
}

/**
 * Starts PostgreSQL and restarts it after each exit, with growing delays, until `stop`. The first
 * start is attempted at most `maxFirstAttempts` times, so that a folder on which PostgreSQL cannot
 * start leads to an error and not to an endless loop.
 * @throws the error of the last of these attempts; if `signal` aborts, the error of the attempt or
 *   the signal's reason.
 */
export async function keepRunning({
  start,
  maxFirstAttempts,
  signal,
  log,
}: {
  start: (signal?: AbortSignal) => Promise<Postmaster>;
  maxFirstAttempts: number;
  signal?: AbortSignal | undefined;
  log: Log;
}): Promise<SupervisedPostmaster> {
  const stopping = new AbortController();
  const listeners: ((reason: string) => void)[] = [];
  const delay = new RestartDelay({ minMs: 100, maxMs: 5_000 });

  async function startAgain(tries: number, until: AbortSignal | undefined): Promise<Postmaster> {
    for (let left = tries; ; left -= 1) {
      try {
        return await start(until);
      } catch (thrown) {
        if (until?.aborted || left <= 1) throw thrown;
        log.write("PostgreSQL did not start and is started again", { reason: messageOf(thrown) });
      }
      await sleep(delay.after(0), until);
    }
  }

  let current = await startAgain(maxFirstAttempts, signal);

  async function watch(): Promise<void> {
    // Without this condition, there would be a deadlock if a start succeeds after `stop` was
    // called: this function would wait for the exit of the new PostgreSQL, and `stop` waits for
    // this function before it stops the new PostgreSQL.
    while (!stopping.signal.aborted) {
      const began = elapsed();
      const reason = await current.exited;
      if (stopping.signal.aborted) return;
      log.write("PostgreSQL exited and is started again", { reason });
      for (const listener of listeners) listener(reason);
      try {
        await sleep(delay.after(elapsed() - began), stopping.signal);
        current = await startAgain(Number.POSITIVE_INFINITY, stopping.signal);
      } catch {
        return; // The attempts have no limit, so only `stop` makes them fail.
      }
    }
  }
  const watching = watch();

  return {
    get pid() {
      return current.pid;
    },
    onExit: (listener) => void listeners.push(listener),
    stop: async (force) => {
      stopping.abort();
      await current.stop(force);
      await watching;
      // If a start succeeded at the moment of the abort, `current` is now another process, which is
      // still running.
      await current.stop(force);
    },
  };
}
