import { sleep } from "../clock.ts";
import { failureKind } from "./failures.ts";

/** Milliseconds between two tries while the database is unavailable. */
const retryMs = 250;

/**
 * Waits before the next try, for at most 250 ms and no longer than until `signal` aborts.
 * @throws `thrown`, unless it says that the database is unavailable.
 */
export async function pauseIfLost(thrown: unknown, signal?: AbortSignal): Promise<void> {
  if (failureKind(thrown) !== "lost") throw thrown;
  await sleep(retryMs, signal).catch(() => {});
}

/**
 * Repeats `attempt` for as long as the database is unavailable.
 * @throws what `attempt` throws for another reason; the reason of `signal`, once a try has failed.
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
