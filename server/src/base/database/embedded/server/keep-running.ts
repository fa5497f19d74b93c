import { elapsed, sleep } from "../../../clock.ts";
import { messageOf } from "../../../errors.ts";
import type { Log } from "../../../log.ts";
import { RestartDelay } from "../../../restart-delay.ts";
import type { Postmaster } from "./run-postmaster.ts";

/** A PostgreSQL that is started again whenever it ends, until it is stopped. */
export interface KeptPostmaster {
  /** Of the current one, or of the last while there is none. */
  readonly pid: number;
  /** Called with the reason, in words, each time it ended without having been asked to. */
  onExit(listener: (reason: string) => void): void;
  /** `hurry` ends the wait for a clean shutdown. */
  stop(hurry?: AbortSignal): Promise<void>;
}

/**
 * running → (died) → starting, again and again with growing waits → running; `stop` ends any of them. The first start is not
 * repeated beyond `firstTries`, so that a folder which cannot start is an error with its reason and not a silent loop.
 */
export async function keepRunning({
  start,
  firstTries,
  signal,
  log,
}: {
  start: (signal?: AbortSignal) => Promise<Postmaster>;
  firstTries: number;
  signal?: AbortSignal | undefined;
  log: Log;
}): Promise<KeptPostmaster> {
  const stopping = new AbortController();
  const listeners: ((reason: string) => void)[] = [];
  const delay = new RestartDelay({ minMs: 100, maxMs: 5_000 });

  async function startAgain(tries: number, until: AbortSignal | undefined): Promise<Postmaster> {
    for (let left = tries; ; left -= 1) {
      try {
        return await start(until);
      } catch (thrown) {
        if (until?.aborted || left <= 1) throw thrown;
        log.error({ reason: messageOf(thrown) }, "PostgreSQL did not start, trying again");
      }
      await sleep(delay.after(0), until);
    }
  }

  let current = await startAgain(firstTries, signal);

  async function watch(): Promise<void> {
    for (;;) {
      const began = elapsed();
      const reason = await current.exited;
      if (stopping.signal.aborted) return;
      log.error({ reason }, "PostgreSQL ended, starting it again");
      for (const listener of listeners) listener(reason);
      try {
        await sleep(delay.after(elapsed() - began), stopping.signal);
        current = await startAgain(Number.POSITIVE_INFINITY, stopping.signal);
      } catch {
        return; // only a stop ends an endless start
      }
    }
  }
  const watching = watch();

  return {
    get pid() {
      return current.pid;
    },
    onExit: (listener) => void listeners.push(listener),
    stop: async (hurry) => {
      stopping.abort();
      await current.stop(hurry);
      await watching;
      // A start that became ready in the very moment of the abort.
      await current.stop(hurry);
    },
  };
}
