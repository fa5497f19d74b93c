import { pause } from "../clock.ts";
import { failureKind } from "./failures.ts";

/** Pause between two attempts while the database is unavailable. */
const retryMs = 250;

/**
 * Waits before the next attempt: 250 ms, or less if `signal` aborts.
 * @throws `thrown`, unless it means that the database is unavailable.
 */
export async function pauseIfLost(thrown: unknown, signal?: AbortSignal): Promise<void> {
  if (failureKind(thrown) !== "lost") throw thrown;
  await pause(retryMs, signal);
}

/**
 * Retries `attempt` while the database is unavailable.
 * @throws any other error of `attempt`; the reason of `signal`, if it has aborted before the
 *   next attempt would begin.
 */
export async function retryWhileLost<T>(
  attempt: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      await pauseIfLost(thrown, signal);
      signal?.throwIfAborted();
    }
  }
}
